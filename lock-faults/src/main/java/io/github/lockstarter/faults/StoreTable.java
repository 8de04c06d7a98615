// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import io.github.lockstarter.faults.history.Step;
import io.github.lockstarter.faults.nemesis.Fault;
import io.github.lockstarter.faults.worker.Competitor;

/**
 * Compares all competitors in one store, as Markdown: how many of a thousand grants went
 * to a second owner, and for how long at most; how many of a thousand updates of the
 * unprotected counter, and of the accounts of transactions, were lost; and after how many
 * milliseconds at most all instances held locks again.
 */
final class StoreTable {

	static final String COLUMNS = "two owners | lost | lost in transactions | ms";

	private StoreTable() {
	}

	static String of(List<EpisodeResult> results) {
		List<Competitor> competitors = Arrays.stream(Competitor.values())
			.filter((competitor) -> results.stream().anyMatch((result) -> result.competitor() == competitor))
			.toList();
		StringBuilder table = new StringBuilder("| fault |");
		competitors.forEach((competitor) -> table.append(" %s: %s |".formatted(competitor.title(), COLUMNS)));
		table.append("\n|---|").append("---|---|---|---:|".repeat(competitors.size())).append('\n');
		for (Fault fault : Fault.all()) {
			List<EpisodeResult> own = results.stream().filter((result) -> result.fault() == fault).toList();
			if (!own.isEmpty()) {
				table.append("| ").append(fault.title()).append(" |");
				competitors.forEach((competitor) -> table
					.append(cells(own.stream().filter((result) -> result.competitor() == competitor).toList())));
				table.append('\n');
			}
		}
		return table.append('\n').append(totals(results, competitors)).toString();
	}

	private static String cells(List<EpisodeResult> results) {
		if (results.isEmpty()) {
			return " – | – | – | – |";
		}
		long overlaps = results.stream().mapToLong((result) -> result.overlaps().size()).sum();
		double longest = results.stream().mapToDouble(FaultReport::longestOverlap).max().orElse(0);
		long lost = results.stream().mapToLong(EpisodeResult::lostPlain).sum();
		String owners = (overlaps > 0)
				? "%s, %.0f ms".formatted(FaultReport.perThousand(overlaps, count(results, Step.GRANTED)), longest)
				: "0";
		return " %s | %s | %s | %s |".formatted(owners, FaultReport.perThousand(lost, count(results, Step.WROTE_PLAIN)),
				FaultReport.lostInTransactions(results), FaultReport.recovery(results));
	}

	private static String totals(List<EpisodeResult> results, List<Competitor> competitors) {
		return competitors.stream().map((competitor) -> {
			List<EpisodeResult> own = results.stream().filter((result) -> result.competitor() == competitor).toList();
			return "- %s: %d episodes, %d locks acquired, %d violations%n".formatted(competitor.title(), own.size(),
					count(own, Step.GRANTED), own.stream().mapToInt((result) -> result.violations().size()).sum());
		}).collect(Collectors.joining());
	}

	private static long count(List<EpisodeResult> results, Step step) {
		return results.stream().mapToLong((result) -> result.history().count(step)).sum();
	}

}
