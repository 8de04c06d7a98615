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
import io.github.lockstarter.faults.worker.Competitor;

/**
 * The long form: all faults in random order, repeated until the time is over. System
 * properties: {@code faults.minutes} for each competitor, {@code faults.seed},
 * {@code faults.competitors} and {@code faults.names} with names separated by commas,
 * {@code faults.lease} in milliseconds, and {@code faults.output}, the directory of the
 * report. The run fails if a lock of this project broke a promise.
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
				Duration.ofMillis(Long.getLong("faults.lease", 1500)), seed)) {
			for (Competitor competitor : chosen("faults.competitors", Competitor.values())) {
				Random random = new Random(seed);
				long end = System.nanoTime() + Duration.ofMinutes(minutes).toNanos();
				do {
					results.addAll(runAll(suite, competitor, random));
					report.write(results);
				}
				while (System.nanoTime() - end < 0);
			}
		}
		boolean broken = results.stream()
			.anyMatch((result) -> result.competitor().isOurs() && !result.violations().isEmpty());
		System.out.println("The report is in " + output.resolve("report.md"));
		System.exit(broken ? 1 : 0);
	}

	private static List<EpisodeResult> runAll(FaultSuite suite, Competitor competitor, Random random) throws Exception {
		List<EpisodeResult> results = new ArrayList<>();
		for (SiteKind kind : SiteKind.values()) {
			List<Fault> faults = new ArrayList<>(
					chosen("faults.names", Fault.values()).stream().filter((fault) -> fault.site() == kind).toList());
			Collections.shuffle(faults, random);
			// Only sites with replicas can confirm grants
			boolean suited = kind == SiteKind.SENTINEL || competitor != Competitor.OURS_CONFIRMED;
			if (suited && kind.isAvailable() && !faults.isEmpty()) {
				results.addAll(suite.run(competitor, kind, faults));
			}
		}
		return results;
	}

	private static <E extends Enum<E>> List<E> chosen(String property, E[] all) {
		String names = System.getProperty(property, "");
		if (names.isBlank()) {
			return List.of(all);
		}
		return Arrays.stream(names.split(","))
			.map((name) -> Enum.valueOf(all[0].getDeclaringClass(), name.strip()))
			.toList();
	}

}
