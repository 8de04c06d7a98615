// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;

import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.scenarios.Metric;

/**
 * Writes results: all of them as CSV, medians and ratios as Markdown, and a chart per
 * comparison.
 */
final class Report {

	private final Path directory;

	Report(Path directory) throws IOException {
		this.directory = Files.createDirectories(directory);
	}

	void write(Results results) throws IOException {
		writeCsv(results);
		StringBuilder text = new StringBuilder();
		for (Comparison comparison : results.comparisons()) {
			text.append(table(comparison, results.medians(comparison))).append('\n');
			drawChart(comparison, results.medians(comparison));
		}
		Files.writeString(this.directory.resolve("results.md"), text);
	}

	private void writeCsv(Results results) throws IOException {
		try (Writer file = Files.newBufferedWriter(this.directory.resolve("results.csv"));
				CSVPrinter csv = CSVFormat.DEFAULT.builder()
					.setHeader("scenario", "competitor", "round", "metric", "value")
					.get()
					.print(file)) {
			for (Results.Row row : results.rows()) {
				csv.printRecord(row.comparison().name(), row.competitor(), row.round(), row.metric().label(),
						row.value());
			}
		}
	}

	static String table(Comparison comparison, Map<String, Map<Metric, Double>> medians) {
		TreeSet<Metric> metrics = new TreeSet<>();
		medians.values().forEach((values) -> metrics.addAll(values.keySet()));
		List<Metric> columns = new ArrayList<>(metrics);
		columns.remove(comparison.headline());
		columns.add(0, comparison.headline());
		StringBuilder table = new StringBuilder("### " + comparison.title() + "\n\n| lock |");
		columns.forEach((metric) -> table.append(' ').append(metric.label()).append(" |"));
		table.append(" × ").append(comparison.reference()).append(" |\n|---|");
		table.append("---:|".repeat(columns.size() + 1)).append('\n');
		Map<Metric, Double> reference = medians.getOrDefault(comparison.reference(), Map.of());
		medians.forEach((competitor, values) -> {
			table.append("| ").append(competitor).append(" |");
			columns.forEach((metric) -> table.append(' ').append(format(values.get(metric))).append(" |"));
			table.append(' ').append(ratio(values, reference, comparison.headline())).append(" |\n");
		});
		return table.toString();
	}

	private static String ratio(Map<Metric, Double> values, Map<Metric, Double> reference, Metric metric) {
		Double value = values.get(metric);
		Double of = reference.get(metric);
		return (value != null && of != null) ? String.format(Locale.ROOT, "%.2f", value / of) : "–";
	}

	static String format(Double value) {
		if (value == null) {
			return "–";
		}
		return String.format(Locale.ROOT, (Math.abs(value) >= 100 || value == Math.rint(value)) ? "%.0f" : "%.2f",
				value);
	}

	private void drawChart(Comparison comparison, Map<String, Map<Metric, Double>> medians) throws IOException {
		Map<String, Double> values = new LinkedHashMap<>();
		medians.forEach((competitor, metrics) -> {
			if (metrics.containsKey(comparison.headline())) {
				values.put(competitor, metrics.get(comparison.headline()));
			}
		});
		String better = comparison.headline().isLessBetter() ? " (less is better)" : " (more is better)";
		String chart = BarChart.svg(comparison.title(), comparison.headline().label() + better, values,
				(competitor) -> competitor.startsWith(Competitors.OURS));
		Files.writeString(this.directory.resolve(comparison.name() + ".svg"), chart);
	}

}
