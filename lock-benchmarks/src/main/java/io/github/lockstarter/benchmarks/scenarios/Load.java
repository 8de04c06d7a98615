// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.function.IntFunction;

import com.sun.management.OperatingSystemMXBean;
import org.HdrHistogram.Histogram;

import io.github.lockstarter.benchmarks.locks.LockClient;

/**
 * Threads that acquire and release locks for some time.
 */
final class Load {

	private static final int DIGITS = 3;

	/** Until all threads run, those that do compete with fewer others. */
	private static final Duration RUN_UP = Duration.ofMillis(200);

	private final Histogram times = new Histogram(DIGITS);

	private final List<Long> shares = new ArrayList<>();

	private long cycles;

	private int failed;

	private volatile long begin;

	private volatile long end;

	private long cpuNanos;

	private Load() {
	}

	/**
	 * Run threads.
	 * @param keys the key of each thread
	 * @param wholeCycle whether the measured time includes body and release, or only the
	 * wait for the lock
	 */
	static Load run(LockClient client, int threads, IntFunction<String> keys, Runnable body, Duration time,
			boolean wholeCycle) throws Exception {
		Load load = new Load();
		CyclicBarrier start = new CyclicBarrier(threads, () -> {
			load.begin = System.nanoTime() + RUN_UP.toNanos();
			load.end = load.begin + time.toNanos();
		});
		List<Thread> running = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			String key = keys.apply(i);
			Thread thread = new Thread(() -> load.loop(client, key, body, wholeCycle, start));
			thread.setUncaughtExceptionHandler((failing, ex) -> load.fail(ex));
			thread.start();
			running.add(thread);
		}
		long before = processCpuNanos();
		for (Thread thread : running) {
			thread.join();
		}
		load.cpuNanos = processCpuNanos() - before;
		return load;
	}

	private void loop(LockClient client, String key, Runnable body, boolean wholeCycle, CyclicBarrier start) {
		Histogram own = new Histogram(DIGITS);
		try {
			start.await();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
		long ownCycles = 0;
		long now = System.nanoTime();
		try {
			while (now - this.end < 0) {
				long asked = now;
				Runnable release = client.lock(key);
				long locked = System.nanoTime();
				body.run();
				ownCycles++;
				release.run();
				now = System.nanoTime();
				if (asked - this.begin >= 0) {
					own.recordValue((wholeCycle ? now : locked) - asked);
				}
			}
		}
		finally {
			synchronized (this) {
				this.times.add(own);
				this.shares.add(own.getTotalCount());
				this.cycles += ownCycles;
			}
		}
	}

	private synchronized void fail(Throwable ex) {
		this.failed++;
		System.err.println("A thread ended:");
		ex.printStackTrace();
	}

	static long processCpuNanos() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	Histogram times() {
		return this.times;
	}

	/**
	 * Return the number of acquisitions in the measured time.
	 */
	long acquisitions() {
		return this.times.getTotalCount();
	}

	/**
	 * Return the number of all acquisitions.
	 */
	long cycles() {
		return this.cycles;
	}

	/**
	 * Return the number of threads that ended early because a lock threw an exception.
	 */
	int failed() {
		return this.failed;
	}

	double cpuMicrosPerAcquisition() {
		return this.cpuNanos / 1000.0 / this.cycles;
	}

	double fairness() {
		return Jain.index(this.shares);
	}

}
