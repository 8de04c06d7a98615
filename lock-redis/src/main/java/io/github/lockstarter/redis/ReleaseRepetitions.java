// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Repeats releases that have failed on a server for some minutes, then leaves the locks
 * to their leases. Logs one warning for each outage in which there are too many releases
 * to repeat.
 */
final class ReleaseRepetitions {

	private static final Log logger = LogFactory.getLog(ReleaseRepetitions.class);

	/** The pause before a repetition doubles each time. */
	private static final int MOST_REPETITIONS = 9;

	private final String server;

	private final Semaphore permits;

	private final AtomicBoolean exhausted = new AtomicBoolean();

	/**
	 * Create the repetitions for a server.
	 * @param server the address of the server
	 * @param limit how many releases are repeated at a time
	 */
	ReleaseRepetitions(String server, int limit) {
		this.server = server;
		this.permits = new Semaphore(limit);
	}

	/**
	 * Repeat a release later.
	 * @param number how often it was repeated before
	 */
	void repeat(int number, Runnable release) {
		if (number >= MOST_REPETITIONS) {
			return;
		}
		if (this.permits.tryAcquire()) {
			CompletableFuture.delayedExecutor(500L << number, TimeUnit.MILLISECONDS, Runnable::run).execute(() -> {
				this.permits.release();
				release.run();
			});
		}
		else if (!this.exhausted.getAndSet(true)) {
			logger.warn("Redis server " + this.server + " has failed so many releases that further ones are not"
					+ " repeated for now; there, their locks are taken until their leases end");
		}
	}

	/**
	 * Note that the server answers again.
	 */
	void outageOver() {
		this.exhausted.set(false);
	}

}
