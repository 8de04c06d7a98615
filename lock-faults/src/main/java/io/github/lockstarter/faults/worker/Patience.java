// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The wait times of the threads of a worker.
 */
final class Patience {

	private final Mode mode;

	private volatile boolean learned;

	Patience(Mode mode) {
		this.mode = mode;
	}

	/**
	 * Return the wait time of the next attempt.
	 */
	Duration next() {
		long longest = hasNone() ? 0 : this.mode.longestWait().toMillis();
		return Duration.ofMillis(ThreadLocalRandom.current().nextLong(longest + 1));
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
