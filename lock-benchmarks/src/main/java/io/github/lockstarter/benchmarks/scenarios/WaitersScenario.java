// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitor.Ability;
import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.locks.LockClient;

/**
 * Many virtual threads that wait for one key which another client holds, and then get it
 * one after another.
 */
final class WaitersScenario implements Scenario {

	private static final long LEASE_MILLIS = 30_000;

	private static final int WAITING_SECONDS = 8;

	private static final int SETTLING_SECONDS = 4;

	private final int waiters;

	WaitersScenario(int waiters) {
		this.waiters = waiters;
	}

	@Override
	public String name() {
		return "waiters-" + this.waiters;
	}

	@Override
	public String title() {
		return this.waiters + " virtual threads wait for one key, which then becomes free";
	}

	@Override
	public Metric headline() {
		return Metric.DRAIN;
	}

	@Override
	public String reference() {
		return Competitors.FAIR_LOCK;
	}

	@Override
	public boolean suits(Competitor competitor) {
		return Runtime.version().feature() >= 21 && competitor.abilities().contains(Ability.MANY_WAITERS);
	}

	@Override
	public Map<Metric, Double> measure(Competitor competitor, BenchmarkRedis redis, Duration time) throws Exception {
		boolean distributed = competitor.abilities().contains(Ability.DISTRIBUTED);
		LockClient client = competitor.connect(redis.port(), LEASE_MILLIS);
		LockClient holder = distributed ? competitor.connect(redis.port(), LEASE_MILLIS) : client;
		try {
			Runnable release = holder.lock("hot");
			CountDownLatch drained = new CountDownLatch(this.waiters);
			ThreadFactory threads = virtualThreads();
			for (int i = 0; i < this.waiters; i++) {
				threads.newThread(() -> {
					client.lock("hot").run();
					drained.countDown();
				}).start();
			}
			TimeUnit.SECONDS.sleep(SETTLING_SECONDS);
			redis.commands().configResetstat();
			long cpuBefore = Load.processCpuNanos();
			TimeUnit.SECONDS.sleep(WAITING_SECONDS);
			Map<Metric, Double> results = new EnumMap<>(Metric.class);
			results.put(Metric.WAITING_CPU, (Load.processCpuNanos() - cpuBefore) / 1e9 / WAITING_SECONDS * 100);
			results.put(Metric.WAITING_COMMANDS,
					competitor.clientCommands(redis.calls(), 0) / (double) WAITING_SECONDS);
			long start = System.nanoTime();
			release.run();
			drained.await();
			results.put(Metric.DRAIN, (System.nanoTime() - start) / 1e6);
			return results;
		}
		finally {
			client.close();
			if (holder != client) {
				holder.close();
			}
		}
	}

	/** The code is compiled for a Java that does not have them. */
	private static ThreadFactory virtualThreads() throws ReflectiveOperationException {
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
	}

}
