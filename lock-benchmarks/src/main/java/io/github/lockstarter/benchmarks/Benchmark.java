// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.scenarios.Metric;
import io.github.lockstarter.benchmarks.scenarios.Scenario;
import io.github.lockstarter.benchmarks.scenarios.Scenarios;
import io.github.lockstarter.benchmarks.servers.BenchmarkServer;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * Measures all competitors in all scenarios, on the same machine and the same servers, in
 * interleaved rounds. System properties select what: {@code benchmark.servers} (only
 * Redis by default), {@code benchmark.scenarios} and {@code benchmark.competitors} (all
 * by default) with names separated by semicolons, {@code benchmark.rounds},
 * {@code benchmark.seconds} per measurement and {@code benchmark.output}, the directory
 * of the report.
 */
public final class Benchmark {

	private final List<Competitor> competitors;

	private final int rounds;

	private final Duration time;

	private final Results results = new Results();

	Benchmark(List<Competitor> competitors, int rounds, Duration time) {
		this.competitors = competitors;
		this.rounds = rounds;
		this.time = time;
	}

	public static void main(String[] args) throws Exception {
		List<ServerKind> servers = chosen("benchmark.servers", List.of(ServerKind.values()), ServerKind::label,
				List.of(ServerKind.REDIS));
		List<Scenario> scenarios = chosen("benchmark.scenarios", Scenarios.all(), Scenario::name, Scenarios.all());
		List<Competitor> competitors = chosen("benchmark.competitors", Competitors.all(), Competitor::name,
				Competitors.all());
		Benchmark benchmark = new Benchmark(competitors, Integer.getInteger("benchmark.rounds", 5),
				Duration.ofSeconds(Integer.getInteger("benchmark.seconds", 2)));
		Report report = new Report(Path.of(System.getProperty("benchmark.output", "target/benchmark")));
		for (ServerKind server : servers) {
			for (Scenario scenario : scenarios) {
				Comparison comparison = new Comparison(scenario, server);
				benchmark.measure(comparison);
				report.write(benchmark.results);
				System.out.println(Report.table(comparison, benchmark.results.medians(comparison)));
			}
		}
		System.exit(0);
	}

	private static <T> List<T> chosen(String property, List<T> all, Function<T, String> name, List<T> otherwise) {
		String names = System.getProperty(property, "");
		if (names.isBlank()) {
			return otherwise;
		}
		Map<String, T> byName = all.stream().collect(Collectors.toMap(name, (each) -> each));
		List<T> chosen = new ArrayList<>();
		for (String each : names.split(";")) {
			if (!byName.containsKey(each.strip())) {
				throw new IllegalArgumentException(
						"'" + property + "' must name some of " + byName.keySet() + ", but was '" + names + "'");
			}
			chosen.add(byName.get(each.strip()));
		}
		return chosen;
	}

	Results measure(Comparison comparison) throws Exception {
		List<Competitor> suited = new ArrayList<>(comparison.suited(this.competitors));
		if (suited.isEmpty()) {
			System.out.println(comparison.name() + ": no competitor suits, or this JDK has no virtual threads");
		}
		for (int round = 1; round <= this.rounds; round++) {
			for (Competitor competitor : suited) {
				measure(comparison, competitor, round);
			}
			// So that no competitor always follows the same one
			Collections.rotate(suited, 1);
		}
		return this.results;
	}

	private void measure(Comparison comparison, Competitor competitor, int round) throws Exception {
		try (BenchmarkServer server = comparison.server().start()) {
			Map<Metric, Double> values = comparison.scenario().measure(competitor, server, this.time);
			this.results.add(comparison, competitor.name(), round, values);
			System.out.println(comparison.name() + ", round " + round + ", " + competitor.name() + ": "
					+ values.entrySet()
						.stream()
						.map((entry) -> Report.format(entry.getValue()) + ' ' + entry.getKey().label())
						.collect(Collectors.joining(", ")));
		}
	}

}
