// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The clock and the threads of this JVM. All else in this module must take its time from
 * a {@link Time}, or it could not be tested without waiting.
 */
final class SystemTime implements Time {

	private static final Log logger = LogFactory.getLog(SystemTime.class);

	private static final long PAUSE_AFTER_ERROR = Duration.ofMillis(100).toNanos();

	private static final long CENTURY = Duration.ofDays(36_525).toNanos();

	@Override
	public long now() {
		return System.nanoTime();
	}

	@Override
	public void parkUntil(Object blocker, long deadline) {
		long nanos = deadline - now();
		if (nanos < CENTURY) {
			LockSupport.parkNanos(blocker, nanos);
		}
		else {
			// A timer for each of many virtual threads would cost more than the rest of
			// the wait
			LockSupport.park(blocker);
		}
	}

	@Override
	public void unpark(Thread thread) {
		LockSupport.unpark(thread);
	}

	@Override
	public Thread start(Schedule schedule) {
		Thread thread = newThread(() -> run(schedule), "lock-watchdog");
		thread.start();
		return thread;
	}

	/**
	 * Create a thread that outlives the current call, and so does not inherit its
	 * context.
	 */
	static Thread newThread(Runnable task, String name) {
		Thread thread = new Thread(null, task, name, 0, false);
		thread.setDaemon(true);
		// Otherwise it has that of the JVM, from JDK 21 on, which does not see the
		// classes of an application in an executable jar
		thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
		return thread;
	}

	/** No lease is renewed, and no loss is noticed, without this thread. */
	private void run(Schedule schedule) {
		while (!schedule.isClosed()) {
			// An interrupted thread would not wait
			Thread.interrupted();
			try {
				schedule.runDue();
				parkUntil(schedule, schedule.nextDue());
			}
			catch (Throwable ex) {
				parkUntil(schedule, now() + PAUSE_AFTER_ERROR);
				log(ex);
			}
		}
	}

	private static void log(Throwable error) {
		try {
			logger.error("The thread that keeps the time of locks goes on after an error", error);
		}
		catch (Throwable ex) {
			// The heap is still full: the next error is logged
		}
	}

}
