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
import io.github.lockstarter.benchmarks.scenarios.BenchmarkRedis;
import io.github.lockstarter.benchmarks.scenarios.Metric;
import io.github.lockstarter.benchmarks.scenarios.Scenario;
import io.github.lockstarter.benchmarks.scenarios.Scenarios;

/**
 * Measures all competitors in all scenarios, on the same machine and the same Redis, in
 * interleaved rounds. System properties narrow the selection: {@code benchmark.scenarios}
 * and {@code benchmark.competitors} with names separated by semicolons,
 * {@code benchmark.rounds}, {@code benchmark.seconds} per measurement and
 * {@code benchmark.output}, the directory of the report.
 */
public final class Benchmark {

	private final List<Scenario> scenarios;

	private final List<Competitor> competitors;

	private final int rounds;

	private final Duration time;

	private final Results results = new Results();

	Benchmark(List<Scenario> scenarios, List<Competitor> competitors, int rounds, Duration time) {
		this.scenarios = scenarios;
		this.competitors = competitors;
		this.rounds = rounds;
		this.time = time;
	}

	public static void main(String[] args) throws Exception {
		List<Scenario> scenarios = chosen("benchmark.scenarios", Scenarios.all(), Scenario::name);
		List<Competitor> competitors = chosen("benchmark.competitors", Competitors.all(), Competitor::name);
		Benchmark benchmark = new Benchmark(scenarios, competitors, Integer.getInteger("benchmark.rounds", 5),
				Duration.ofSeconds(Integer.getInteger("benchmark.seconds", 2)));
		Report report = new Report(Path.of(System.getProperty("benchmark.output", "target/benchmark")));
		for (Scenario scenario : scenarios) {
			benchmark.measure(scenario);
			report.write(benchmark.results);
			System.out.println(Report.table(scenario, benchmark.results.medians(scenario)));
		}
		System.exit(0);
	}

	private static <T> List<T> chosen(String property, List<T> all, Function<T, String> name) {
		String names = System.getProperty(property, "");
		if (names.isBlank()) {
			return all;
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

	Results measure(Scenario scenario) throws Exception {
		List<Competitor> suited = new ArrayList<>(this.competitors.stream().filter(scenario::suits).toList());
		if (suited.isEmpty()) {
			System.out.println(scenario.name() + ": no competitor suits, or this JDK has no virtual threads");
		}
		for (int round = 1; round <= this.rounds; round++) {
			for (Competitor competitor : suited) {
				measure(scenario, competitor, round);
			}
			// So that no competitor always follows the same one
			Collections.rotate(suited, 1);
		}
		return this.results;
	}

	private void measure(Scenario scenario, Competitor competitor, int round) throws Exception {
		try (BenchmarkRedis redis = BenchmarkRedis.start()) {
			Map<Metric, Double> values = scenario.measure(competitor, redis, this.time);
			this.results.add(scenario, competitor.name(), round, values);
			System.out.println(scenario.name() + ", round " + round + ", " + competitor.name() + ": "
					+ values.entrySet()
						.stream()
						.map((entry) -> Report.format(entry.getValue()) + ' ' + entry.getKey().label())
						.collect(Collectors.joining(", ")));
		}
	}

}
