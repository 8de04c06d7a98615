// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.HdrHistogram.Histogram;

import org.springframework.util.StringUtils;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitor.Ability;
import io.github.lockstarter.benchmarks.servers.BenchmarkServer;
import io.github.lockstarter.benchmarks.servers.ServerKind;
import io.github.lockstarter.servers.WorkerJvm;

/**
 * Time of a hand-over from one JVM to another that waits: from just before the release to
 * the return of the acquisition.
 */
final class HandOverScenario implements Scenario {

	@Override
	public String name() {
		return "hand-over";
	}

	@Override
	public String title() {
		return "Hand-over between two JVMs, from before the release to after the acquisition";
	}

	@Override
	public Metric headline() {
		return Metric.P50;
	}

	@Override
	public boolean suits(Competitor competitor) {
		return competitor.abilities().containsAll(List.of(Ability.DISTRIBUTED, Ability.MANY_WAITERS));
	}

	/**
	 * Waiters of Redlock only poll: how long one of them looks for a free lock is no time
	 * of a hand-over.
	 */
	@Override
	public boolean suits(ServerKind server) {
		return server != ServerKind.REDLOCK;
	}

	@Override
	public Map<Metric, Double> measure(Competitor competitor, BenchmarkServer server, Duration time) throws Exception {
		Object[] arguments = { competitor.name(), server.address(), server.counters().port(), time.toMillis() };
		try (WorkerJvm one = BenchmarkServer.startClient(HandOverWorker.class, arguments);
				WorkerJvm two = BenchmarkServer.startClient(HandOverWorker.class, arguments)) {
			for (WorkerJvm worker : List.of(one, two)) {
				worker.await("ready");
			}
			server.resetCalls();
			for (WorkerJvm worker : List.of(one, two)) {
				worker.say("go");
			}
			Map<Long, Turn> turns = new TreeMap<>();
			for (WorkerJvm worker : List.of(one, two)) {
				for (String word : StringUtils.tokenizeToStringArray(worker.await("done"), " ")) {
					Turn turn = Turn.of(worker, word);
					turns.put(turn.number(), turn);
				}
			}
			Histogram times = new Histogram(3);
			for (Turn turn : turns.values()) {
				Turn next = turns.get(turn.number() + 1);
				if (next != null && next.worker() != turn.worker()) {
					times.recordValue(next.acquiredAt() - turn.releasedAt());
				}
			}
			Map<Metric, Double> results = new EnumMap<>(Metric.class);
			results.put(Metric.P50, times.getValueAtPercentile(50) / 1e3);
			results.put(Metric.P99, times.getValueAtPercentile(99) / 1e3);
			results.put(Metric.ACQUISITIONS, times.getTotalCount() / (time.toNanos() / 1e9));
			return results;
		}
	}

	private record Turn(WorkerJvm worker, long number, long acquiredAt, long releasedAt) {

		static Turn of(WorkerJvm worker, String text) {
			String[] parts = text.split(":");
			return new Turn(worker, Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]));
		}

	}

}
