// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import io.github.lockstarter.faults.checks.Timeline;
import io.github.lockstarter.faults.checks.Violation;
import io.github.lockstarter.faults.history.Step;
import io.github.lockstarter.faults.nemesis.Fault;
import io.github.lockstarter.faults.worker.Competitor;
import io.github.lockstarter.faults.worker.Ledger.Balance;

/**
 * Writes the results of all episodes as Markdown, and a picture of each violation.
 */
final class FaultReport {

	private final Path directory;

	FaultReport(Path directory) throws IOException {
		this.directory = Files.createDirectories(directory);
	}

	void write(List<EpisodeResult> results) throws IOException {
		StringBuilder report = new StringBuilder();
		for (String store : results.stream().map(EpisodeResult::store).distinct().toList()) {
			List<EpisodeResult> inStore = results.stream().filter((result) -> result.store().equals(store)).toList();
			report.append("# ").append(store).append("\n\n").append(StoreTable.of(inStore)).append('\n');
			for (Competitor competitor : Competitor.values()) {
				List<EpisodeResult> own = inStore.stream()
					.filter((result) -> result.competitor() == competitor)
					.toList();
				if (!own.isEmpty()) {
					report.append("## ").append(competitor.title()).append("\n\n").append(table(own)).append('\n');
				}
			}
		}
		int pictures = 0;
		for (EpisodeResult result : results) {
			for (Violation violation : result.violations()) {
				report.append("- %s, %s, %s: %s%n".formatted(result.competitor().title(), result.fault().title(),
						violation.check(), violation.message()));
				violation.attempts().forEach((attempt) -> report.append("  - ").append(attempt).append('\n'));
				if (!violation.attempts().isEmpty() && pictures < 100) {
					String picture = "violation-" + ++pictures + ".svg";
					Files.writeString(this.directory.resolve(picture), Timeline.draw(result.history(), violation));
					report.append("\n  ![](").append(picture).append(")\n\n");
				}
			}
		}
		Files.writeString(this.directory.resolve("report.md"), report.toString());
	}

	private static String table(List<EpisodeResult> results) {
		StringBuilder table = new StringBuilder(
				"| fault | episodes | locks acquired | outcome unknown | refused while free | lost |" + " two owners"
						+ " | longest ms | lost updates | with tokens | in transactions | transactions refused | tokens not larger | all work again after ms | keys left | violations |\n");
		table.append("|---|").append("---:|".repeat(15)).append('\n');
		for (Fault fault : Fault.all()) {
			List<EpisodeResult> own = results.stream().filter((result) -> result.fault() == fault).toList();
			if (!own.isEmpty()) {
				table.append(row(own));
			}
		}
		return table.toString();
	}

	private static String row(List<EpisodeResult> results) {
		EpisodeResult first = results.get(0);
		double longest = results.stream().mapToDouble(FaultReport::longestOverlap).max().orElse(0);
		long lostGuarded = results.stream().mapToLong(EpisodeResult::lostGuarded).sum();
		return String.format(Locale.ROOT,
				"| %s | %d | %d | %d | %d | %d | %d | %.0f | %d | %s | %s | %d | %s | %s | %d | %d |%n",
				first.fault().title(), results.size(), count(results, Step.GRANTED), count(results, Step.UNKNOWN),
				results.stream().mapToLong(EpisodeResult::refused).sum(), count(results, Step.LOST),
				results.stream().mapToInt((result) -> result.overlaps().size()).sum(), longest,
				results.stream().mapToLong(EpisodeResult::lostPlain).sum(),
				first.competitor().isFenced() ? lostGuarded : "–", lostInTransactions(results),
				count(results, Step.TRANSACTION_REFUSED), first.competitor().isFenced() ? wrongTokens(results) : "–",
				recovery(results), results.stream().mapToInt(EpisodeResult::leftKeys).sum(),
				results.stream().mapToInt((result) -> result.violations().size()).sum());
	}

	/**
	 * Return how many of a thousand updates in transactions were lost.
	 */
	static String lostInTransactions(List<EpisodeResult> results) {
		Balance all = results.stream().map(EpisodeResult::transactions).reduce(Balance.NONE, Balance::plus);
		return (all.committed() > 0) ? perThousand(all.lost(), all.committed()) : "–";
	}

	static String perThousand(long part, long all) {
		return (part > 0) ? String.format(Locale.ROOT, "%.1f ‰", 1000.0 * part / Math.max(1, all)) : "0";
	}

	private static long wrongTokens(List<EpisodeResult> results) {
		return results.stream()
			.flatMap((result) -> result.violations().stream())
			.filter((violation) -> violation.check().equals("fencing tokens"))
			.count();
	}

	private static long count(List<EpisodeResult> results, Step step) {
		return results.stream().mapToLong((result) -> result.history().count(step)).sum();
	}

	/**
	 * Return the longest recovery in milliseconds, or "never" if one did not complete.
	 */
	static String recovery(List<EpisodeResult> results) {
		if (results.stream().map(EpisodeResult::recovery).anyMatch(Objects::isNull)) {
			return "never";
		}
		return results.stream()
			.map(EpisodeResult::recovery)
			.filter(Objects::nonNull)
			.max(Comparator.naturalOrder())
			.map((longest) -> Long.toString(longest.toMillis()))
			.orElse("");
	}

	static double longestOverlap(EpisodeResult result) {
		return result.overlaps().stream().mapToDouble(FaultReport::overlapMillis).max().orElse(0);
	}

	private static double overlapMillis(Violation overlap) {
		long[] ends = overlap.attempts().stream().mapToLong((hold) -> hold.heldUntil()).toArray();
		long begin = overlap.attempts().get(1).at(Step.GRANTED);
		return (Arrays.stream(ends).min().orElse(begin) - begin) / 1e6;
	}

	/**
	 * Return a one-line summary of an episode.
	 */
	static String line(EpisodeResult result) {
		Duration recovery = result.recovery();
		return String.format(Locale.ROOT,
				"%s, %s: %d locks acquired, %d unknown, %d lost, %d times two owners (%.0f ms), %d lost updates,"
						+ " %d with tokens, %d of %d in transactions (%d refused, %d failed), recovery %s ms, %d violations",
				result.competitor().title(), result.fault().title(), result.history().count(Step.GRANTED),
				result.history().count(Step.UNKNOWN), result.history().count(Step.LOST), result.overlaps().size(),
				longestOverlap(result), result.lostPlain(), result.lostGuarded(), result.transactions().lost(),
				result.transactions().committed(), result.history().count(Step.TRANSACTION_REFUSED),
				result.history().count(Step.TRANSACTION_FAILED),
				(recovery != null) ? Long.toString(recovery.toMillis()) : "–", result.violations().size())
				+ result.violations()
					.stream()
					.limit(3)
					.map((violation) -> System.lineSeparator() + "  " + violation.check() + ": " + violation.message())
					.reduce("", String::concat);
	}

}
