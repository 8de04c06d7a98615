// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * Lets threads wait until something is empty.
 */
final class Emptiness {

	private final Time time;

	private final BooleanSupplier empty;

	private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

	/**
	 * Create a condition.
	 * @param empty returns whether it is empty
	 */
	Emptiness(Time time, BooleanSupplier empty) {
		this.time = time;
		this.empty = empty;
	}

	/**
	 * Wait until it is empty. An interrupt ends the wait, and its flag stays set.
	 * @param deadline when to stop waiting
	 */
	void await(long deadline) {
		Thread current = Thread.currentThread();
		this.waiting.add(current);
		try {
			while (!this.empty.getAsBoolean() && deadline - this.time.now() > 0 && !current.isInterrupted()) {
				this.time.parkUntil(this, deadline);
			}
		}
		finally {
			this.waiting.remove(current);
		}
	}

	/**
	 * Let the waiting threads look whether it is empty. The caller does not look, because
	 * it may hold a guard.
	 */
	void check() {
		this.waiting.forEach(this.time::unpark);
	}

}
