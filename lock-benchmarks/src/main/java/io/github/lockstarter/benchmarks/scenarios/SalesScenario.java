// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.IntFunction;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitor.Ability;
import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.locks.LockClient;
import io.github.lockstarter.benchmarks.servers.BenchmarkServer;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * Transactions of four threads that sell items, each its own or all the same one. Shows
 * what it costs to fence them.
 */
final class SalesScenario implements Scenario {

	private static final Duration WARM_UP = Duration.ofSeconds(3);

	private static final int THREADS = 4;

	private final boolean hot;

	SalesScenario(boolean hot) {
		this.hot = hot;
	}

	@Override
	public String name() {
		return this.hot ? "sales-hot" : "sales";
	}

	@Override
	public String title() {
		return "Transactions that read and write an item, 4 threads, "
				+ (this.hot ? "all the same item" : "each its own item");
	}

	@Override
	public Metric headline() {
		return Metric.TRANSACTIONS;
	}

	@Override
	public String reference() {
		return Competitors.LOCKED_SALE;
	}

	@Override
	public boolean comparesLocks() {
		return false;
	}

	@Override
	public boolean suits(Competitor competitor) {
		return competitor.abilities().contains(Ability.SELLS);
	}

	@Override
	public boolean suits(ServerKind server) {
		return server.isDatabase();
	}

	@Override
	public Map<Metric, Double> measure(Competitor competitor, BenchmarkServer server, Duration time) throws Exception {
		try (LockClient shop = competitor.connect(server.address(), 0)) {
			IntFunction<String> items = (thread) -> this.hot ? "hot" : "item-" + thread;
			Load warmUp = Load.run(shop, THREADS, items, () -> {
			}, (time.compareTo(WARM_UP) < 0) ? time : WARM_UP, true);
			Load load = Load.run(shop, THREADS, items, () -> {
			}, time, true);
			Map<Metric, Double> results = new EnumMap<>(Metric.class);
			results.put(Metric.TRANSACTIONS, load.acquisitions() / (time.toNanos() / 1e9));
			results.put(Metric.P50, load.times().getValueAtPercentile(50) / 1e3);
			results.put(Metric.P99, load.times().getValueAtPercentile(99) / 1e3);
			int failed = warmUp.failed() + load.failed();
			if (failed > 0) {
				results.put(Metric.FAILED, (double) failed);
			}
			return results;
		}
	}

}
