// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;

/**
 * The session of a client of ZooKeeper, which lives longer than a lease.
 */
public final class ZooKeeperSession {

	private ZooKeeperSession() {
	}

	/**
	 * Return the time-out of a session in which leases last as long as requested: two
	 * fifths of it.
	 */
	public static Duration timeout(Duration leaseTime) {
		return leaseTime.multipliedBy(5).dividedBy(2);
	}

}
