// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitor.Ability;
import io.github.lockstarter.benchmarks.locks.LockClient;

/**
 * A JVM that holds a lock is killed while another one waits for the lock.
 */
final class KilledHolderScenario implements Scenario {

	private static final long LEASE_MILLIS = 2_000;

	@Override
	public String name() {
		return "killed-holder";
	}

	@Override
	public String title() {
		return "Holder killed: from the expiry of its key to the next acquisition";
	}

	@Override
	public Metric headline() {
		return Metric.AFTER_EXPIRY;
	}

	@Override
	public boolean suits(Competitor competitor) {
		return competitor.abilities().containsAll(List.of(Ability.DISTRIBUTED, Ability.CONTENDED));
	}

	@Override
	public Map<Metric, Double> measure(Competitor competitor, BenchmarkRedis redis, Duration time) throws Exception {
		try (LockClient client = competitor.connect(redis.port(), LEASE_MILLIS);
				Worker holder = Worker.start(HoldingWorker.class, competitor.name(), String.valueOf(redis.port()),
						String.valueOf(LEASE_MILLIS))) {
			client.lock("warm-up").run();
			holder.await("held");
			CompletableFuture<Long> acquired = CompletableFuture.supplyAsync(() -> {
				Runnable release = client.lock("hot");
				long now = System.nanoTime();
				release.run();
				return now;
			});
			TimeUnit.MILLISECONDS.sleep(LEASE_MILLIS / 2);
			holder.kill();
			String key = lockKey(redis);
			long now = System.nanoTime();
			long expiry = now + TimeUnit.MILLISECONDS.toNanos(redis.commands().pttl(key));
			Map<Metric, Double> results = new EnumMap<>(Metric.class);
			results.put(Metric.AFTER_EXPIRY, (acquired.get(60, TimeUnit.SECONDS) - expiry) / 1e6);
			return results;
		}
	}

	/**
	 * Each implementation uses another key, and perhaps further keys that live longer.
	 */
	private static String lockKey(BenchmarkRedis redis) {
		return redis.commands()
			.keys("*hot*")
			.stream()
			.filter((key) -> redis.commands().pttl(key) <= LEASE_MILLIS)
			.findFirst()
			.orElseThrow();
	}

}
