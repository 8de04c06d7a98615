// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The allowance for clocks of the store and of this JVM that run at different speeds: a
 * lease counts for a hundredth and two milliseconds less than was requested.
 */
final class Drift {

	private static final long LEAST = 2_000_000;

	private Drift() {
	}

	/**
	 * Return until when a lease is certain to last.
	 * @param sentAt when it was requested
	 */
	static long end(long sentAt, Duration leaseTime) {
		long lease = leaseTime.toNanos();
		return sentAt + lease - Math.min(lease / 100 + LEAST, lease / 4);
	}

	/**
	 * Return the shortest lease, in whole milliseconds, that certainly lasts for a time.
	 * @param nanos the time; no lease is needed if it is over
	 */
	static Duration leaseThatLasts(long nanos) {
		long lease = nanos + LEAST + (nanos + LEAST) / 99;
		return (nanos > 0) ? Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(lease) + 1) : Duration.ZERO;
	}

}
