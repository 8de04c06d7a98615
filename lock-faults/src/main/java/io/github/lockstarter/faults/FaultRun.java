// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import io.github.lockstarter.faults.nemesis.Fault;
import io.github.lockstarter.faults.nemesis.SiteKind;
import io.github.lockstarter.faults.nemesis.WorkerFault;
import io.github.lockstarter.faults.worker.Competitor;

/**
 * The long form: all faults in random order, repeated until the time is over. System
 * properties: {@code faults.minutes} for each competitor, {@code faults.seed},
 * {@code faults.competitors} and {@code faults.names} with names separated by commas,
 * {@code faults.lease} in milliseconds, {@code faults.database} as in
 * {@link LedgerDatabase}, and {@code faults.output}, the directory of the report. The run
 * fails if a lock of this project broke a promise.
 */
public final class FaultRun {

	private FaultRun() {
	}

	public static void main(String[] args) throws Exception {
		Path output = Path.of(System.getProperty("faults.output", "target/faults"));
		long seed = Long.getLong("faults.seed", System.nanoTime());
		long minutes = Long.getLong("faults.minutes", 10);
		System.out.println("Seed " + seed);
		List<EpisodeResult> results = new ArrayList<>();
		FaultReport report = new FaultReport(output);
		try (FaultSuite suite = new FaultSuite(output.resolve("histories"),
				Duration.ofMillis(Long.getLong("faults.lease", 1500)), seed, database())) {
			for (Competitor competitor : competitors()) {
				Random random = new Random(seed);
				long end = System.nanoTime() + Duration.ofMinutes(minutes).toNanos();
				do {
					for (SiteKind kind : SiteKind.values()) {
						results.addAll(runAll(suite, competitor, kind, random));
						report.write(results);
					}
				}
				while (System.nanoTime() - end < 0);
			}
		}
		boolean broken = results.stream()
			.anyMatch((result) -> result.competitor().isOurs() && !result.violations().isEmpty());
		System.out.println("The report is in " + output.resolve("report.md"));
		System.exit(broken ? 1 : 0);
	}

	private static List<EpisodeResult> runAll(FaultSuite suite, Competitor competitor, SiteKind kind, Random random)
			throws Exception {
		List<Fault> faults = new ArrayList<>(
				Fault.at(kind).stream().filter((fault) -> isChosen(fault, competitor)).toList());
		Collections.shuffle(faults, random);
		boolean possible = competitor.isSuitedTo(kind.deployment()) && kind.isAvailable() && !faults.isEmpty()
				&& (database() != LedgerDatabase.OF_LOCKS || kind.deployment().isDatabase());
		return possible ? suite.run(competitor, kind, faults) : List.of();
	}

	private static boolean isChosen(Fault fault, Competitor competitor) {
		List<String> names = names("faults.names");
		if (!Fault.all().stream().map(Fault::name).toList().containsAll(names)) {
			throw new IllegalArgumentException("Unknown fault in " + names);
		}
		// Only the store of ours can be silenced
		boolean possible = fault != WorkerFault.ANSWERS_NEVER || competitor.isOurs();
		return possible && (names.isEmpty() || names.contains(fault.name()));
	}

	private static LedgerDatabase database() {
		return LedgerDatabase.valueOf(System.getProperty("faults.database", LedgerDatabase.POSTGRESQL.name()));
	}

	private static List<Competitor> competitors() {
		List<String> names = names("faults.competitors");
		return names.isEmpty() ? List.of(Competitor.values()) : names.stream().map(Competitor::valueOf).toList();
	}

	private static List<String> names(String property) {
		return Arrays.stream(System.getProperty(property, "").split(","))
			.map(String::strip)
			.filter((name) -> !name.isEmpty())
			.toList();
	}

}
