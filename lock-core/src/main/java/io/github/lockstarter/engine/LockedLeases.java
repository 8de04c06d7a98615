// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;

/**
 * The leases that a thread has acquired through a
 * {@link java.util.concurrent.locks.Lock}, which returns no reference to them. Changed by
 * that thread only.
 */
final class LockedLeases {

	private @Nullable Deque<LockedLease> leases;

	private volatile boolean empty = true;

	void push(LockMode mode, Lease lease) {
		if (this.leases == null) {
			this.leases = new ArrayDeque<>(1);
		}
		this.leases.push(new LockedLease(mode, lease));
		this.empty = false;
	}

	/**
	 * Remove and return the last lease of a mode, or {@code null} if there is none.
	 */
	@Nullable Lease pop(LockMode mode) {
		if (this.leases == null) {
			return null;
		}
		for (Iterator<LockedLease> all = this.leases.iterator(); all.hasNext();) {
			LockedLease next = all.next();
			if (next.mode() == mode) {
				all.remove();
				this.empty = this.leases.isEmpty();
				return next.lease();
			}
		}
		return null;
	}

	/**
	 * Return whether there is none; any thread may ask.
	 */
	boolean isEmpty() {
		return this.empty;
	}

	private record LockedLease(LockMode mode, Lease lease) {
	}

}
