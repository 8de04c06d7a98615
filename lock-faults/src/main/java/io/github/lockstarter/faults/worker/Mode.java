// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;

/**
 * What is wrong with a worker itself.
 */
public enum Mode {

	/** Nothing. */
	CALM(Duration.ofSeconds(3)),

	/** It has one thread, and no hold lasts long: shares can be compared. */
	LONELY(Duration.ofSeconds(3), Mode.NEVER),

	/**
	 * Many more callers ask for other locks and soon give up; a quarter of its holds is
	 * long.
	 */
	CROWDED(Duration.ofSeconds(3), 4),

	/** It was just started, and waits for no lock before it is told to. */
	HASTY(Duration.ofSeconds(1)),

	/** Its threads are interrupted all the time. */
	INTERRUPTED(Duration.ofSeconds(3)),

	/** It has no patience. */
	IMPATIENT(Duration.ofMillis(8)),

	/** It makes garbage until the collector does nothing but stop the world. */
	SHORT_OF_MEMORY(Duration.ofSeconds(3));

	private static final int NEVER = Integer.MAX_VALUE;

	private static final int SELDOM = 200;

	private final Duration longestWait;

	private final int longHolds;

	Mode(Duration longestWait) {
		this(longestWait, SELDOM);
	}

	Mode(Duration longestWait, int longHolds) {
		this.longestWait = longestWait;
		this.longHolds = longHolds;
	}

	Duration longestWait() {
		return this.longestWait;
	}

	/**
	 * Return how many holds there are for each one that lasts for longer than its lease.
	 */
	int longHolds() {
		return this.longHolds;
	}

	/**
	 * Return how many of the threads of a worker take part.
	 */
	int threads(int all) {
		return (this == LONELY) ? 1 : all;
	}

	/**
	 * Return whether workers have to be started for it.
	 */
	public boolean isOfNewWorkers() {
		return this == HASTY;
	}

}
