// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Instant;

import org.apache.zookeeper.data.Stat;

import io.github.lockstarter.store.UnusableStoreException;

/**
 * Fencing bases from the transaction ids of an ensemble: those since the creation of the
 * root node, added to the microseconds from 2024 to that moment.
 *
 * <p>
 * A transaction id consists of the number of the election and a 32-bit counter, so it
 * grows as long as the ensemble keeps its data. A new ensemble without them counts from 1
 * again, but its root node is created later. An election takes as many numbers as 72
 * minutes have microseconds: bases keep growing across new ensembles if the previous one
 * has had fewer elections than that. 2<sup>51</sup> suffices until 2095, or for half a
 * million elections.
 *
 * @param origin the base that belongs to the transaction id 0
 * @param changedAt the id of the transaction that has added or removed a lock last
 */
record FencingBases(long origin, long changedAt) {

	private static final long BOUND = 1L << 51;

	private static final long START = Instant.parse("2024-01-01T00:00:00Z").toEpochMilli();

	/**
	 * Return the bases of an ensemble.
	 * @param root the root node of all locks
	 */
	static FencingBases of(Stat root) {
		return new FencingBases(Math.max(0, root.getCtime() - START) * 1000 - root.getCzxid(), root.getPzxid());
	}

	/**
	 * Return whether a lock belongs to this root, which cannot have been replaced since
	 * the lock was created.
	 * @param createdAt the id of the transaction that has created the lock
	 */
	boolean apply(long createdAt) {
		return createdAt <= this.changedAt;
	}

	/**
	 * Return the base of a transaction.
	 * @param zxid the id of the transaction
	 * @throws UnusableStoreException if the base is out of range
	 */
	long of(long zxid) {
		long base = this.origin + zxid;
		if (base < 0 || base >= BOUND) {
			throw new UnusableStoreException(
					"The transaction id 0x" + Long.toHexString(zxid)
							+ " of the ensemble is too large for a fencing token; locks need a new ensemble",
					new ArithmeticException(base + " is not from 0 to 2^51 - 1"));
		}
		return base;
	}

}
