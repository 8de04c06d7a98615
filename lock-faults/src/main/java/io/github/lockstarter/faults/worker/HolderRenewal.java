// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * A lease that its holder itself renews, in each third of the lease time.
 */
final class HolderRenewal {

	private final long interval;

	private long renewedAt = System.nanoTime();

	private boolean lost;

	HolderRenewal(Duration leaseTime) {
		this.interval = leaseTime.toNanos() / 3;
	}

	/**
	 * Renew the lease if it is time.
	 * @param renewal returns whether it has succeeded
	 * @return whether the lease is not lost
	 */
	boolean isHeld(BooleanSupplier renewal) {
		long now = System.nanoTime();
		if (!this.lost && now - this.renewedAt >= this.interval) {
			this.lost = !tryRenew(renewal);
			this.renewedAt = now;
		}
		return !this.lost;
	}

	private static boolean tryRenew(BooleanSupplier renewal) {
		try {
			return renewal.getAsBoolean();
		}
		catch (RuntimeException ex) {
			return false;
		}
	}

}
