// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.test.ManualClock;

import static org.assertj.core.api.Assertions.assertThat;

class PatienceTests {

	private final ManualClock clock = new ManualClock();

	private final Patience patience = new Patience(new Terms(EngineSettings.DEFAULTS, this.clock));

	@Test
	void aWaiterThatHasJustComeToleratesAnOutageThatHasLastedForLong() {
		long begin = this.clock.getAsLong();
		this.clock.advance(Duration.ofHours(1));
		Waiter waiter = new ThreadWaiter(Duration.ofMinutes(1), true, LockMode.EXCLUSIVE, null);
		RuntimeException failure = new IllegalStateException("it is a test");
		this.patience.failed(begin, failure, waiter);
		assertThat(this.patience.failed(this.clock.getAsLong(), failure, waiter)).isPositive();
		assertThat(this.patience.denialFor(waiter)).isNull();
	}

}
