// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitor.Ability;
import io.github.lockstarter.benchmarks.locks.LockClient;
import io.github.lockstarter.benchmarks.servers.BenchmarkServer;
import io.github.lockstarter.benchmarks.servers.ServerKind;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.servers.WorkerJvm;

/**
 * A JVM that holds a lock is killed while another one waits for the lock.
 */
final class KilledHolderScenario implements Scenario {

	private static final long LEASE_MILLIS = 2_000;

	private final boolean asksForExpiry;

	/**
	 * Create a scenario.
	 * @param asksForExpiry whether the server is asked when the lock expires; or else the
	 * measured time begins with the kill
	 */
	KilledHolderScenario(boolean asksForExpiry) {
		this.asksForExpiry = asksForExpiry;
	}

	@Override
	public String name() {
		return this.asksForExpiry ? "killed-holder" : "after-kill";
	}

	@Override
	public String title() {
		return this.asksForExpiry ? "Holder killed: from the expiry of its key to the next acquisition"
				: "Holder killed: from the kill to the next acquisition, lease 2 s";
	}

	@Override
	public Metric headline() {
		return this.asksForExpiry ? Metric.AFTER_EXPIRY : Metric.AFTER_KILL;
	}

	@Override
	public boolean suits(Competitor competitor) {
		return competitor.abilities().containsAll(List.of(Ability.DISTRIBUTED, Ability.CONTENDED));
	}

	@Override
	public boolean suits(ServerKind server) {
		return this.asksForExpiry == (server == ServerKind.REDIS);
	}

	@Override
	public Map<Metric, Double> measure(Competitor competitor, BenchmarkServer server, Duration time) throws Exception {
		try (LockClient client = competitor.connect(server.address(), LEASE_MILLIS);
				WorkerJvm holder = BenchmarkServer.startClient(HoldingWorker.class, competitor.name(), server.address(),
						LEASE_MILLIS)) {
			client.lock("warm-up").run();
			holder.await("held");
			CompletableFuture<Long> acquired = CompletableFuture.supplyAsync(() -> {
				Runnable release = client.lock("hot");
				long now = System.nanoTime();
				release.run();
				return now;
			});
			TimeUnit.MILLISECONDS.sleep(LEASE_MILLIS / 2);
			long killed = System.nanoTime();
			holder.kill();
			long begin = this.asksForExpiry ? expiry(server.counters()) : killed;
			return Map.of(headline(), (acquired.get(60, TimeUnit.SECONDS) - begin) / 1e6);
		}
	}

	private static long expiry(RedisServer redis) {
		String key = lockKey(redis);
		long now = System.nanoTime();
		return now + TimeUnit.MILLISECONDS.toNanos(remainingMillis(redis, key));
	}

	/**
	 * Each implementation uses another key, and perhaps further keys that live longer.
	 */
	private static String lockKey(RedisServer redis) {
		return redis.command("KEYS", "*hot*")
			.lines()
			.filter((key) -> remainingMillis(redis, key) <= LEASE_MILLIS)
			.findFirst()
			.orElseThrow();
	}

	private static long remainingMillis(RedisServer redis, String key) {
		return Long.parseLong(redis.command("PTTL", key));
	}

}
