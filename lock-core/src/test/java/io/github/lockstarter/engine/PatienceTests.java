// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

class PatienceTests {

	private final ManualTime time = new ManualTime();

	private final Patience patience = new Patience(new Terms(EngineSettings.DEFAULTS, this.time));

	@Test
	void aWaiterThatHasJustComeToleratesAnOutageThatHasLastedForLong() {
		long begin = this.time.now();
		this.time.advance(Duration.ofHours(1));
		Waiter waiter = new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ofMinutes(1),
				LockMode.EXCLUSIVE, null, null, Thread.currentThread());
		RuntimeException failure = new IllegalStateException("it is a test");
		this.patience.failed(begin, failure, waiter);
		assertThat(this.patience.failed(this.time.now(), failure, waiter)).isPositive();
		assertThat(this.patience.denialFor(waiter)).isNull();
	}

}
