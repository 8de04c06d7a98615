// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * What a caller meets at the entry of a lock.
 */
sealed interface Arrival {

	/**
	 * It held the lock already.
	 *
	 * @param hold the hold, entered once more
	 */
	record Reentered(Hold hold) implements Arrival {
	}

	/**
	 * It shares the lock with those who hold it.
	 *
	 * @param hold its hold
	 */
	record Joined(Hold hold) implements Arrival {
	}

	/**
	 * It may share the lock with those who hold it unless another JVM waits, which it has
	 * to ask before.
	 *
	 * @param tenure what it would share
	 */
	record Asking(Tenure tenure) implements Arrival {
	}

	/**
	 * It shared the lock already, and now wants it alone.
	 */
	Arrival UPGRADING = new Upgrading();

	/**
	 * Nobody was there: it has the turn.
	 */
	Arrival TAKEN = new Taken();

	/**
	 * Somebody was there, and it has no time to wait.
	 */
	Arrival CONTENDED = new Contended();

	/**
	 * Somebody was there, and it waits in the queue.
	 *
	 * @param waiter its place
	 */
	record Queued(LocalWaiter waiter) implements Arrival {
	}

	record Taken() implements Arrival {
	}

	record Contended() implements Arrival {
	}

	record Upgrading() implements Arrival {
	}

}
