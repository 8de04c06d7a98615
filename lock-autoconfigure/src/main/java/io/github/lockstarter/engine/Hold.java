// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayDeque;
import java.util.Deque;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;

/**
 * One local grant of a lock: whose it is and how often it was entered.
 */
final class Hold {

	private final LocalEntry entry;

	private final Tenure tenure;

	private final Thread thread;

	private final long since = System.nanoTime();

	/** Guarded by the entry. */
	private int count = 1;

	/** Used by the owning thread only. */
	private @Nullable Deque<Lease> lockedLeases;

	Hold(LocalEntry entry, Tenure tenure, Thread thread) {
		this.entry = entry;
		this.tenure = tenure;
		this.thread = thread;
	}

	LocalEntry entry() {
		return this.entry;
	}

	Tenure tenure() {
		return this.tenure;
	}

	long since() {
		return this.since;
	}

	boolean belongsTo(Thread thread) {
		return this.thread == thread;
	}

	Hold enter() {
		this.count++;
		return this;
	}

	/**
	 * Leave one level.
	 * @return whether it was the last one
	 */
	boolean exit() {
		return --this.count == 0;
	}

	/**
	 * Remember a lease that the owning thread took through
	 * {@link java.util.concurrent.locks.Lock}, which has no handle to remember it by.
	 */
	void pushLocked(Lease lease) {
		if (this.lockedLeases == null) {
			this.lockedLeases = new ArrayDeque<>(1);
		}
		this.lockedLeases.push(lease);
	}

	@Nullable Lease popLocked() {
		return (this.lockedLeases != null) ? this.lockedLeases.poll() : null;
	}

}
