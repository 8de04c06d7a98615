// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Notices when the whole machine stands still. What a lock promises about time cannot be
 * judged then: a lease expires although its store is healthy, and a server that was not
 * running seems to be down.
 */
public final class Heartbeat implements AutoCloseable {

	private static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(10);

	private final Thread thread = new Thread(this::run, "heartbeat");

	private long last;

	private long longestGap;

	private volatile boolean closed;

	/**
	 * Create a heartbeat that {@link #beat} drives.
	 * @param now the current time in nanoseconds
	 */
	Heartbeat(long now) {
		this.last = now;
	}

	/**
	 * Start a heartbeat with a thread of its own.
	 */
	public static Heartbeat start() {
		Heartbeat heartbeat = new Heartbeat(System.nanoTime());
		heartbeat.thread.setDaemon(true);
		heartbeat.thread.start();
		return heartbeat;
	}

	private void run() {
		while (!this.closed) {
			beat(System.nanoTime());
			LockSupport.parkNanos(INTERVAL);
		}
	}

	synchronized void beat(long now) {
		this.longestGap = Math.max(this.longestGap, now - this.last);
		this.last = now;
	}

	/**
	 * Forget the gaps so far.
	 * @param now the current time in nanoseconds
	 */
	synchronized void restart(long now) {
		this.longestGap = 0;
		this.last = Math.max(this.last, now);
	}

	/**
	 * Return the longest time between two beats until now.
	 * @param now the current time in nanoseconds
	 */
	public synchronized Duration longestGap(long now) {
		return Duration.ofNanos(Math.max(this.longestGap, now - this.last));
	}

	@Override
	public void close() {
		this.closed = true;
	}

}
