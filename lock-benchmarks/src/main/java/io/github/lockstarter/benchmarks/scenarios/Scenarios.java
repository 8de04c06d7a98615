// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.util.List;

/**
 * All scenarios, in the order in which they run.
 */
public final class Scenarios {

	private Scenarios() {
	}

	public static List<Scenario> all() {
		return List.of(
				new ThreadsScenario("uncontended", "Uncontended: one thread, one key, lock and unlock", 1, false),
				new ThreadsScenario("own-keys", "16 threads on 16 keys", 16, false),
				new ThreadsScenario("hot-16", "One hot key, one JVM, 16 threads", 16, true),
				new ThreadsScenario("hot-64", "One hot key, one JVM, 64 threads", 64, true), new JvmsScenario(),
				new HandOverScenario(), new KilledHolderScenario(true), new KilledHolderScenario(false),
				new HeldLocksScenario(1_000), new HeldLocksScenario(10_000), new HeldLocksScenario(50_000),
				new WaitersScenario(1_000), new WaitersScenario(10_000), new SalesScenario(false),
				new SalesScenario(true));
	}

}
