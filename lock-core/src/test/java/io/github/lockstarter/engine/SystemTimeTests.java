// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;

class SystemTimeTests {

	private static final Time TIME = Time.SYSTEM;

	@Test
	@Tag("clock")
	void aThreadIsParkedUntilItsDeadline() {
		long start = TIME.now();
		long deadline = start + Duration.ofSeconds(1).toNanos();
		int returns = 0;
		while (deadline - TIME.now() > 0) {
			TIME.parkUntil(this, deadline);
			returns++;
		}
		// A thread that did not park would return without end
		assertThat(returns).isLessThan(1000);
	}

	@Test
	void aThreadGoesOnWhenItIsUnparked() throws Exception {
		for (Duration time : new Duration[] { Duration.ofHours(1), Duration.ofNanos(Long.MAX_VALUE / 2) }) {
			Call<Boolean> call = Callers.start(() -> {
				TIME.parkUntil(this, TIME.now() + time.toNanos());
				return true;
			}).awaitParked();
			TIME.unpark(call.thread());
			assertThat(call.get()).isTrue();
		}
	}

	@Test
	void aThreadThatParksAfterItsDeadlineGoesOnAtOnce() {
		TIME.parkUntil(this, TIME.now() - 1);
	}

}
