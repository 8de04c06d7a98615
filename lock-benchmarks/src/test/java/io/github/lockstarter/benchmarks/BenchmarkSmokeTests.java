// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.scenarios.Metric;
import io.github.lockstarter.benchmarks.scenarios.Scenario;
import io.github.lockstarter.benchmarks.scenarios.Scenarios;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A short run of the benchmarks, which asserts that they work and that no update is lost.
 * It asserts nothing about time.
 */
class BenchmarkSmokeTests {

	private static final Duration SHORT = Duration.ofMillis(200);

	@ParameterizedTest
	@ValueSource(strings = { "uncontended", "own-keys", "hot-16" })
	@FullProfileOnly
	void everyCompetitorRuns(String name) throws Exception {
		Scenario scenario = scenario(name);
		Map<String, Map<Metric, Double>> medians = new Benchmark(List.of(scenario), Competitors.all(), 1, SHORT)
			.measure(scenario)
			.medians(scenario);
		assertThat(medians).hasSize((int) Competitors.all().stream().filter(scenario::suits).count());
		assertThat(medians).allSatisfy((competitor, values) -> {
			assertThat(values.get(Metric.ACQUISITIONS)).isPositive();
			assertThat(values.getOrDefault(Metric.LOST_UPDATES, 0.0)).isZero();
		});
	}

	@Test
	@FullProfileOnly
	void ourLockLosesNoLeaseWhileManyAreHeld() throws Exception {
		Scenario scenario = scenario("held-1000");
		Map<String, Map<Metric, Double>> medians = new Benchmark(List.of(scenario),
				List.of(Competitors.named(Competitors.OURS)), 1, SHORT)
			.measure(scenario)
			.medians(scenario);
		assertThat(medians.get(Competitors.OURS).get(Metric.LOST_LOCKS)).isZero();
	}

	@Test
	void theReportHasTablesRatiosAndCharts(@TempDir Path directory) throws Exception {
		Scenario scenario = scenario("hot-16");
		Results results = new Results();
		results.add(scenario, Competitors.OURS, 1, Map.of(Metric.ACQUISITIONS, 300.0, Metric.P50, 1.5));
		results.add(scenario, Competitors.OURS, 2, Map.of(Metric.ACQUISITIONS, 100.0, Metric.P50, 2.5));
		results.add(scenario, Competitors.OURS, 3, Map.of(Metric.ACQUISITIONS, 200.0, Metric.P50, 0.5));
		results.add(scenario, Competitors.FAIR_LOCK, 1, Map.of(Metric.ACQUISITIONS, 400.0));
		new Report(directory).write(results);
		assertThat(directory.resolve("results.md")).content()
			.contains("| lock | acquisitions/s | p50 µs | × fair ReentrantLock |")
			.contains("| ours | 200 | 1.50 | 0.50 |")
			.contains("| fair ReentrantLock | 400 | – | 1.00 |");
		assertThat(Files.readAllLines(directory.resolve("results.csv"))).hasSize(1 + 7)
			.contains("hot-16,ours,2,acquisitions/s,100.0");
		assertThat(directory.resolve("hot-16.svg")).content().startsWith("<svg").contains(Competitors.OURS);
	}

	private static Scenario scenario(String name) {
		return Scenarios.all().stream().filter((each) -> each.name().equals(name)).findFirst().orElseThrow();
	}

}
