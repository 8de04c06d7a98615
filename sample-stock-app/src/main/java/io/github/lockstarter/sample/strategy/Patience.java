// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.time.Duration;

import io.github.lockstarter.sample.stock.DeductionStrategy.BusyException;

/**
 * The time for which a customer waits for others, looking again and again.
 */
final class Patience {

	private static final Duration WAIT_TIME = Duration.ofSeconds(10);

	private static final long PAUSE_MILLIS = 5;

	private final long productId;

	private final long end = System.nanoTime() + WAIT_TIME.toNanos();

	Patience(long productId) {
		this.productId = productId;
	}

	/**
	 * Wait a moment.
	 * @throws BusyException if the time is over
	 */
	void pause() {
		check();
		try {
			Thread.sleep(PAUSE_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BusyException(this.productId);
		}
	}

	/**
	 * Go on without a pause.
	 * @throws BusyException if the time is over
	 */
	void check() {
		if (System.nanoTime() - this.end >= 0) {
			throw new BusyException(this.productId);
		}
	}

}
