// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.jmh;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.MemoryLockStore;

/**
 * The engine with a store in memory: uncontended, nested, and handed on among 16 threads,
 * compared with a fair {@link ReentrantLock}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class LocalLockBenchmark {

	private static final LockRequest HOT = LockRequest.of("stock", 1001).withWaitTime(LockRequest.FOREVER);

	private static final LockRequest HELD = LockRequest.of("stock", "held");

	private final ReentrantLock fair = new ReentrantLock(true);

	private DefaultLockRegistry registry;

	private long counter;

	@Setup(Level.Trial)
	public void start() {
		this.registry = new DefaultLockRegistry(new MemoryLockStore(), EngineSettings.DEFAULTS, LockListener.NO_OP);
	}

	@TearDown(Level.Trial)
	public void stop() {
		this.registry.close();
	}

	@Benchmark
	public long uncontended() {
		return lock(HOT);
	}

	@Benchmark
	@Threads(16)
	public long handedOn() {
		return lock(HOT);
	}

	@Benchmark
	public long uncontendedFairLock() {
		return lockFair();
	}

	@Benchmark
	@Threads(16)
	public long handedOnFairLock() {
		return lockFair();
	}

	@Benchmark
	public long nested(Holder holder) {
		try (Lease lease = holder.registry.acquire(HELD)) {
			return lease.fencingToken();
		}
	}

	private long lock(LockRequest request) {
		try (Lease lease = this.registry.acquire(request)) {
			return this.counter++;
		}
	}

	private long lockFair() {
		this.fair.lock();
		try {
			return this.counter++;
		}
		finally {
			this.fair.unlock();
		}
	}

	/**
	 * A thread that already holds the lock.
	 */
	@State(Scope.Thread)
	public static class Holder {

		private DefaultLockRegistry registry;

		private Lease outer;

		@Setup(Level.Trial)
		public void hold() {
			this.registry = new DefaultLockRegistry(new MemoryLockStore(), EngineSettings.DEFAULTS, LockListener.NO_OP);
			this.outer = this.registry.acquire(HELD);
		}

		@TearDown(Level.Trial)
		public void release() {
			this.outer.close();
			this.registry.close();
		}

	}

}
