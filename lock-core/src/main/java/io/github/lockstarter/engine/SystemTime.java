// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * The clock and the threads of this JVM. All else in this module must take its time from
 * a {@link Time}, or it could not be tested without waiting.
 */
final class SystemTime implements Time {

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
		Thread thread = new Thread(() -> run(schedule), "lock-watchdog");
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	private void run(Schedule schedule) {
		while (!schedule.isClosed()) {
			schedule.runDue();
			parkUntil(schedule, schedule.nextDue());
		}
	}

}
