// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitor.Ability;
import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.locks.LockClient;
import io.github.lockstarter.benchmarks.servers.BenchmarkServer;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * Many virtual threads that wait for one key that another client holds, and then acquire
 * it one after another.
 */
final class WaitersScenario implements Scenario {

	private static final long LEASE_MILLIS = 30_000;

	private static final int WAITING_SECONDS = 8;

	private static final int SETTLING_SECONDS = 4;

	private static final int WARM_UP_WAITERS = 5_000;

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
	public boolean suits(ServerKind server) {
		return server == ServerKind.REDIS;
	}

	@Override
	public Map<Metric, Double> measure(Competitor competitor, BenchmarkServer server, Duration time) throws Exception {
		LockClient client = competitor.connect(server.address(), LEASE_MILLIS);
		LockClient holder = competitor.abilities().contains(Ability.DISTRIBUTED)
				? competitor.connect(server.address(), LEASE_MILLIS) : client;
		try {
			contest(client, holder, "warm-up", WARM_UP_WAITERS, () -> {
			});
			Map<Metric, Double> results = new EnumMap<>(Metric.class);
			results.putAll(contest(client, holder, "hot", this.waiters, () -> {
				server.resetCalls();
				long cpuBefore = Load.processCpuNanos();
				sleep(WAITING_SECONDS);
				results.put(Metric.WAITING_CPU, (Load.processCpuNanos() - cpuBefore) / 1e9 / WAITING_SECONDS * 100);
				results.put(Metric.WAITING_COMMANDS,
						competitor.clientCommands(server.calls(), 0) / (double) WAITING_SECONDS);
			}));
			return results;
		}
		finally {
			client.close();
			if (holder != client) {
				holder.close();
			}
		}
	}

	private static Map<Metric, Double> contest(LockClient client, LockClient holder, String key, int waiters,
			Runnable whileWaiting) throws Exception {
		Runnable release = holder.lock(key);
		CountDownLatch drained = new CountDownLatch(waiters);
		AtomicInteger failed = new AtomicInteger();
		ThreadFactory threads = virtualThreads();
		for (int i = 0; i < waiters; i++) {
			threads.newThread(() -> {
				try {
					client.lock(key).run();
				}
				catch (RuntimeException ex) {
					failed.incrementAndGet();
				}
				finally {
					drained.countDown();
				}
			}).start();
		}
		sleep(SETTLING_SECONDS);
		whileWaiting.run();
		long start = System.nanoTime();
		release.run();
		drained.await();
		return Map.of(Metric.DRAIN, (System.nanoTime() - start) / 1e6, Metric.FAILED, failed.doubleValue());
	}

	private static void sleep(int seconds) {
		LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(seconds));
	}

	/**
	 * By reflection, because the code is compiled for a Java version without virtual
	 * threads.
	 */
	private static ThreadFactory virtualThreads() throws ReflectiveOperationException {
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
	}

}
