// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The wait times of the threads of a worker.
 */
final class Patience {

	/** Of a caller that only an interrupt or the lock ends. */
	private static final Duration ENDLESS = Duration.ofMinutes(2);

	private final Mode mode;

	private volatile boolean learned;

	Patience(Mode mode) {
		this.mode = mode;
	}

	/**
	 * Return the wait time of the next attempt.
	 */
	Duration next() {
		if (this.mode == Mode.UNANSWERED && ThreadLocalRandom.current().nextInt(3) == 0) {
			return ENDLESS;
		}
		long longest = hasNone() ? 0 : this.mode.longestWait().toMillis();
		return Duration.ofMillis(ThreadLocalRandom.current().nextLong(longest + 1));
	}

	/**
	 * Return whether an attempt may be interrupted: those whose wait ends by itself must
	 * not need that.
	 * @param left the rest of its wait time
	 */
	boolean mayBeInterrupted(long left) {
		return this.mode != Mode.UNANSWERED || left > this.mode.longestWait().toNanos();
	}

	/**
	 * Return whether no attempt may wait.
	 */
	boolean hasNone() {
		return this.mode == Mode.HASTY && !this.learned;
	}

	/**
	 * Let attempts wait from now on.
	 */
	void learn() {
		this.learned = true;
	}

}
