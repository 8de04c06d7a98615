// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitor.Ability;
import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.servers.BenchmarkServer;
import io.github.lockstarter.benchmarks.servers.ServerKind;
import io.github.lockstarter.servers.WorkerJvm;

/**
 * One hot key requested by 4 JVMs with 8 threads each, with a body that reads and writes
 * a counter in Redis. Without a lock, a single thread runs the body.
 */
final class JvmsScenario implements Scenario {

	private static final int JVMS = 4;

	private static final int THREADS = 8;

	private static final int SECONDS = 10;

	@Override
	public String name() {
		return "jvms";
	}

	@Override
	public String title() {
		return "One hot key, 4 JVMs with 8 threads each, body = GET + SET in Redis, 10 s";
	}

	@Override
	public Metric headline() {
		return Metric.ACQUISITIONS;
	}

	@Override
	public String reference() {
		return Competitors.NO_LOCK;
	}

	@Override
	public boolean suits(Competitor competitor) {
		return competitor.name().equals(Competitors.NO_LOCK)
				|| competitor.abilities().containsAll(List.of(Ability.DISTRIBUTED, Ability.CONTENDED));
	}

	@Override
	public Map<Metric, Double> measure(Competitor competitor, BenchmarkServer server, Duration time) throws Exception {
		boolean alone = competitor.name().equals(Competitors.NO_LOCK);
		int jvms = alone ? 1 : JVMS;
		List<WorkerJvm> workers = new ArrayList<>();
		try {
			for (int i = 0; i < jvms; i++) {
				workers.add(BenchmarkServer.startClient(CounterWorker.class, competitor.name(), server.address(),
						server.counters().port(), alone ? 1 : THREADS, SECONDS));
			}
			for (WorkerJvm worker : workers) {
				worker.await("ready");
			}
			server.resetCalls();
			server.counters().command("SET", CounterWorker.COUNTER, "0");
			for (WorkerJvm worker : workers) {
				worker.say("go");
			}
			List<Result> parts = new ArrayList<>();
			for (WorkerJvm worker : workers) {
				parts.add(Result.of(worker.await("done").split(" ")));
			}
			return results(competitor, server, parts);
		}
		finally {
			for (WorkerJvm worker : workers) {
				worker.close();
			}
		}
	}

	private static Map<Metric, Double> results(Competitor competitor, BenchmarkServer server, List<Result> parts) {
		long acquisitions = parts.stream().mapToLong(Result::acquisitions).sum();
		long cycles = parts.stream().mapToLong(Result::cycles).sum();
		Map<Metric, Double> results = new EnumMap<>(Metric.class);
		results.put(Metric.ACQUISITIONS, acquisitions / (double) SECONDS);
		results.put(Metric.FAIRNESS, Jain.index(parts.stream().map(Result::acquisitions).toList()));
		if (server.countsCalls()) {
			results.put(Metric.COMMANDS, competitor.clientCommands(calls(server, cycles), cycles) / (double) cycles);
		}
		results.put(Metric.P50, parts.stream().mapToDouble(Result::p50).average().orElse(0));
		results.put(Metric.P99, parts.stream().mapToDouble(Result::p99).max().orElse(0));
		results.put(Metric.LONGEST, parts.stream().mapToDouble(Result::longest).max().orElse(0));
		results.put(Metric.CLIENT_CPU,
				parts.stream().mapToDouble((part) -> part.cpuMicros() * part.cycles()).sum() / cycles);
		long counted = Long.parseLong(server.counters().command("GET", CounterWorker.COUNTER));
		results.put(Metric.LOST_UPDATES, (double) (cycles - counted));
		int failed = parts.stream().mapToInt(Result::failed).sum();
		if (failed > 0) {
			results.put(Metric.FAILED, (double) failed);
		}
		return results;
	}

	private static Map<String, Long> calls(BenchmarkServer server, long cycles) {
		Map<String, Long> calls = server.calls();
		if (server.address().kind() == ServerKind.REDIS) {
			// The commands of the body, and that of this class
			calls.merge("set", -(cycles + 1), Long::sum);
		}
		return calls;
	}

	private record Result(long acquisitions, double p50, double p99, double longest, double cpuMicros, long cycles,
			int failed) {

		static Result of(String[] words) {
			return new Result(Long.parseLong(words[0]), Double.parseDouble(words[1]), Double.parseDouble(words[2]),
					Double.parseDouble(words[3]), Double.parseDouble(words[4]), Long.parseLong(words[5]),
					Integer.parseInt(words[6]));
		}

	}

}
