// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.OwnerToken;

/**
 * The time of a registry: all that reads a clock, waits on a thread, or is done at a
 * certain time. Applications use {@link #SYSTEM}. Tests move a {@code ManualTime} instead
 * of waiting; in an application of Spring, it is a bean.
 */
public interface Time {

	/** The clock and the threads of this JVM. */
	Time SYSTEM = new SystemTime();

	/**
	 * Return the time in nanoseconds from any origin. It never goes backward, but may
	 * overflow: compare two times by their difference.
	 */
	long now();

	/**
	 * Park the current thread until another one {@linkplain #unpark unparks} it, it is
	 * interrupted, or a deadline has passed. May return early, for no reason.
	 * @param blocker what the thread waits for, for diagnosis
	 * @param deadline a time; one that is more than a century away never comes
	 */
	void parkUntil(Object blocker, long deadline);

	/**
	 * Let a thread return that is {@linkplain #parkUntil parked}, or is about to park.
	 */
	void unpark(Thread thread);

	/**
	 * Begin to run what is on a schedule whenever it is due.
	 * @return the thread that does so, which must be {@linkplain #unpark unparked} when
	 * something is due earlier than before, and when the schedule is closed; {@code null}
	 * if it is done by whoever moves the time
	 */
	@Nullable Thread start(Schedule schedule);

	/**
	 * Return an executor that gives the threads of a registry the same tasks, and lets a
	 * time that others move know when they are done.
	 */
	default Executor observe(Executor threads) {
		return threads;
	}

	/**
	 * Return a random number, by which the pauses of instances differ.
	 * @param bound larger than the number, which is not negative
	 */
	default long random(long bound) {
		return ThreadLocalRandom.current().nextLong(bound);
	}

	/**
	 * Return 128 random bits that nobody can guess, for the token of an owner.
	 */
	default String randomId() {
		return OwnerToken.randomId();
	}

	/**
	 * What is to be done at certain times.
	 */
	interface Schedule {

		/**
		 * Do on the current thread what is due.
		 */
		void runDue();

		/**
		 * Return when something is due next.
		 */
		long nextDue();

		/**
		 * Return whether nothing is to be done any more.
		 */
		boolean isClosed();

	}

}
