// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.scenarios.Metric;
import io.github.lockstarter.benchmarks.scenarios.Scenario;
import io.github.lockstarter.benchmarks.scenarios.Scenarios;
import io.github.lockstarter.benchmarks.servers.ServerKind;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A short run of the benchmarks, which asserts that they work and that no update is lost.
 * It asserts nothing about time.
 */
@FullProfileOnly
@Tag("clock")
class BenchmarkSmokeTests {

	private static final Duration SHORT = Duration.ofMillis(200);

	private static final Duration SHORTEST = Duration.ofMillis(50);

	/** Longer than the machine stands still. */
	private static final Duration LONG = Duration.ofSeconds(5);

	@ParameterizedTest
	@EnumSource(names = { "REDIS", "POSTGRESQL", "ZOOKEEPER" })
	void oursAndItsPeerRun(ServerKind server) throws Exception {
		Comparison comparison = new Comparison(scenario("hot-16"), server);
		List<Competitor> two = List.of(Competitors.named(Competitors.OURS),
				Competitors.named(Competitors.peerOn(server)));
		assertThatAllRun(comparison, two, SHORTEST);
	}

	@ParameterizedTest
	@EnumSource
	void everyCompetitorRuns(ServerKind server) throws Exception {
		for (String name : List.of("uncontended", "own-keys", "hot-16")) {
			Comparison comparison = new Comparison(scenario(name), server);
			assertThatAllRun(comparison, comparison.suited(Competitors.all()), SHORT);
		}
	}

	private static void assertThatAllRun(Comparison comparison, List<Competitor> competitors, Duration time)
			throws Exception {
		Map<String, Map<Metric, Double>> medians = medians(comparison, competitors, time);
		if (medians.values().stream().anyMatch((values) -> values.get(Metric.ACQUISITIONS) == 0)) {
			// As if the machine stood still all the time, so that nobody could ask
			medians.forEach(BenchmarkSmokeTests::assertNoLostUpdate);
			medians = medians(comparison, competitors, LONG);
		}
		assertThat(medians).hasSameSizeAs(competitors);
		medians.forEach(BenchmarkSmokeTests::assertNoLostUpdate);
		assertThat(medians).allSatisfy((competitor, values) -> {
			assertThat(values.get(Metric.ACQUISITIONS)).isPositive();
			// That a peer fails is a result: H2 2.4.240 sometimes refuses to tell its
			// isolation level over TCP, which Spring Integration asks for each time
			if (competitor.startsWith(Competitors.OURS)) {
				assertThat(values).doesNotContainKey(Metric.FAILED);
			}
		});
	}

	/** A peer may lose one because the machine stood still. */
	private static void assertNoLostUpdate(String competitor, Map<Metric, Double> values) {
		double lost = values.getOrDefault(Metric.LOST_UPDATES, 0.0);
		SafetyViolation.check(lost == 0 || !competitor.startsWith(Competitors.OURS), "'%s' lost %s updates", competitor,
				lost);
		assertThat(lost).as(competitor).isZero();
	}

	private static Map<String, Map<Metric, Double>> medians(Comparison comparison, List<Competitor> competitors,
			Duration time) throws Exception {
		return new Benchmark(competitors, 1, time).measure(comparison).medians(comparison);
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void everyTransactionRuns(ServerKind server) throws Exception {
		for (String name : List.of("sales", "sales-hot")) {
			Comparison comparison = new Comparison(scenario(name), server);
			List<Competitor> all = comparison.suited(Competitors.all());
			Map<String, Map<Metric, Double>> medians = new Benchmark(all, 1, SHORT).measure(comparison)
				.medians(comparison);
			assertThat(medians).hasSameSizeAs(all).hasSizeGreaterThan(4);
			assertThat(medians.values()).allSatisfy(
					(values) -> assertThat(values).containsKey(Metric.TRANSACTIONS).doesNotContainKey(Metric.FAILED));
		}
	}

	@Test
	void ourLockLosesNoLeaseWhileManyAreHeld() throws Exception {
		Comparison comparison = new Comparison(scenario("held-1000"), ServerKind.REDIS);
		Map<String, Map<Metric, Double>> medians = new Benchmark(List.of(Competitors.named(Competitors.OURS)), 1, SHORT)
			.measure(comparison)
			.medians(comparison);
		assertThat(medians.get(Competitors.OURS).get(Metric.LOST_LOCKS)).isZero();
	}

	@Test
	void theReportHasTablesRatiosAndCharts(@TempDir Path directory) throws Exception {
		Comparison comparison = new Comparison(scenario("hot-16"), ServerKind.REDIS);
		Results results = new Results();
		results.add(comparison, Competitors.OURS, 1, Map.of(Metric.ACQUISITIONS, 300.0, Metric.P50, 1.5));
		results.add(comparison, Competitors.OURS, 2, Map.of(Metric.ACQUISITIONS, 100.0, Metric.P50, 2.5));
		results.add(comparison, Competitors.OURS, 3, Map.of(Metric.ACQUISITIONS, 200.0, Metric.P50, 0.5));
		results.add(comparison, Competitors.FAIR_LOCK, 1, Map.of(Metric.ACQUISITIONS, 400.0));
		new Report(directory).write(results);
		assertThat(directory.resolve("results.md")).content()
			.contains("| lock | acquisitions/s | p50 µs | × fair ReentrantLock |")
			.contains("| ours | 200 | 1.50 | 0.50 |")
			.contains("| fair ReentrantLock | 400 | – | 1.00 |");
		assertThat(Files.readAllLines(directory.resolve("results.csv"))).hasSize(1 + 7)
			.contains("hot-16,ours,2,acquisitions/s,100.0");
		assertThat(directory.resolve("hot-16.svg")).content().startsWith("<svg").contains(Competitors.OURS);
	}

	@Test
	void eachKindOfServerHasTablesOfItsOwn() {
		Comparison comparison = new Comparison(scenario("hot-16"), ServerKind.POSTGRESQL);
		assertThat(comparison.name()).isEqualTo("hot-16-postgresql");
		assertThat(comparison.title()).isEqualTo("One hot key, one JVM, 16 threads (PostgreSQL)");
		assertThat(comparison.reference()).isEqualTo("Spring Integration, JDBC");
		assertThat(comparison.suited(Competitors.all())).extracting(Competitor::name)
			.containsExactly("ours", "Spring Integration, JDBC", "ShedLock + sleep", "SELECT FOR UPDATE",
					"fair ReentrantLock");
	}

	private static Scenario scenario(String name) {
		return Scenarios.all().stream().filter((each) -> each.name().equals(name)).findFirst().orElseThrow();
	}

}
