// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.lockstarter.benchmarks.scenarios.Metric;

/**
 * The measurements of all rounds.
 */
final class Results {

	private final List<Row> rows = new ArrayList<>();

	void add(Comparison comparison, String competitor, int round, Map<Metric, Double> values) {
		values.forEach((metric, value) -> this.rows.add(new Row(comparison, competitor, round, metric, value)));
	}

	List<Row> rows() {
		return this.rows;
	}

	Set<Comparison> comparisons() {
		return this.rows.stream().map(Row::comparison).collect(Collectors.toCollection(LinkedHashSet::new));
	}

	/**
	 * Return the medians of a comparison by competitor and metric.
	 */
	Map<String, Map<Metric, Double>> medians(Comparison comparison) {
		Map<String, Map<Metric, Double>> medians = new LinkedHashMap<>();
		for (Row row : this.rows) {
			if (row.comparison().equals(comparison)) {
				medians.computeIfAbsent(row.competitor(), (key) -> new LinkedHashMap<>())
					.computeIfAbsent(row.metric(), (metric) -> median(comparison, row.competitor(), metric));
			}
		}
		return medians;
	}

	private double median(Comparison comparison, String competitor, Metric metric) {
		return median(this.rows.stream()
			.filter((row) -> row.comparison().equals(comparison) && row.competitor().equals(competitor)
					&& row.metric() == metric)
			.map(Row::value)
			.sorted()
			.toList());
	}

	static double median(List<Double> sorted) {
		int middle = sorted.size() / 2;
		return (sorted.size() % 2 == 1) ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
	}

	/**
	 * One measured value.
	 */
	record Row(Comparison comparison, String competitor, int round, Metric metric, double value) {
	}

}
