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

/**
 * Threads of one JVM, each with its own key or all with one hot key.
 */
final class ThreadsScenario implements Scenario {

	private static final Duration WARM_UP = Duration.ofMillis(700);

	private static final long LEASE_MILLIS = 30_000;

	private final String name;

	private final String title;

	private final int threads;

	private final boolean hot;

	ThreadsScenario(String name, String title, int threads, boolean hot) {
		this.name = name;
		this.title = title;
		this.threads = threads;
		this.hot = hot;
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public String title() {
		return this.title;
	}

	@Override
	public Metric headline() {
		return (this.threads == 1) ? Metric.P50 : Metric.ACQUISITIONS;
	}

	@Override
	public String reference() {
		return this.hot ? Competitors.FAIR_LOCK : Competitors.FLOOR;
	}

	@Override
	public boolean suits(Competitor competitor) {
		return competitor.abilities().contains(this.hot ? Ability.CONTENDED : Ability.DISTRIBUTED);
	}

	@Override
	public Map<Metric, Double> measure(Competitor competitor, BenchmarkServer server, Duration time) throws Exception {
		try (LockClient client = competitor.connect(server.address(), LEASE_MILLIS)) {
			IntFunction<String> keys = (i) -> this.hot ? "hot" : "own-" + i;
			long[] counter = new long[1];
			Load warmUp = Load.run(client, this.threads, keys, () -> {
			}, (time.compareTo(WARM_UP) < 0) ? time : WARM_UP, true);
			server.resetCalls();
			Load load = Load.run(client, this.threads, keys, () -> counter[0]++, time, !this.hot);
			Map<Metric, Double> results = new EnumMap<>(Metric.class);
			results.put(Metric.ACQUISITIONS, load.acquisitions() / (time.toNanos() / 1e9));
			results.put(Metric.P50, load.times().getValueAtPercentile(50) / 1e3);
			results.put(Metric.P99, load.times().getValueAtPercentile(99) / 1e3);
			if (server.countsCalls()) {
				results.put(Metric.COMMANDS,
						competitor.clientCommands(server.calls(), load.cycles()) / (double) load.cycles());
			}
			results.put(Metric.CLIENT_CPU, load.cpuMicrosPerAcquisition());
			int failed = warmUp.failed() + load.failed();
			if (failed > 0) {
				results.put(Metric.FAILED, (double) failed);
			}
			if (this.hot) {
				results.put(Metric.FAIRNESS, load.fairness());
				results.put(Metric.LOST_UPDATES, (double) (load.cycles() - counter[0]));
			}
			return results;
		}
	}

}
