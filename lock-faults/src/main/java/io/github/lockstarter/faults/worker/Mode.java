// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.random.RandomGenerator;

import io.github.lockstarter.faults.worker.LockClient.Way;

/**
 * The condition of a worker.
 */
public enum Mode {

	/** Nothing is wrong. */
	CALM(Duration.ofSeconds(3)),

	/** It has one thread, and no hold lasts long, so that shares can be compared. */
	LONELY(Duration.ofSeconds(3), Mode.NEVER),

	/**
	 * Many more callers request other locks and soon give up; a quarter of its holds is
	 * long.
	 */
	CROWDED(Duration.ofSeconds(3), 4),

	/** One hold in twenty is long, so that most faults hit a holder. */
	LINGERING(Duration.ofSeconds(3), 20),

	/** It has just been started, and waits for locks only on command. */
	HASTY(Duration.ofSeconds(1)),

	/** Its threads are interrupted all the time. */
	INTERRUPTED(Duration.ofSeconds(3)),

	/**
	 * Its callers are threads and futures, for one lock and for sets. Most of them leave
	 * at the end of their wait time; a third has time, but is interrupted.
	 */
	UNANSWERED(Duration.ofSeconds(3)),

	/** Its wait times are very short. */
	IMPATIENT(Duration.ofMillis(8)),

	/** It produces so much garbage that the collector pauses the JVM most of the time. */
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
	 * Return the number of holds for each one that lasts longer than its lease.
	 */
	int longHolds() {
		return this.longHolds;
	}

	/**
	 * Return the number of threads of a worker that take part.
	 */
	int threads(int all) {
		return (this == LONELY) ? 1 : all;
	}

	/**
	 * Return how the next lock is acquired.
	 */
	Way way(RandomGenerator random) {
		return (this == UNANSWERED) ? Way.values()[random.nextInt(Way.values().length)] : Way.THREAD;
	}

	/**
	 * Return whether it needs new workers.
	 */
	public boolean isOfNewWorkers() {
		return this == HASTY;
	}

}
