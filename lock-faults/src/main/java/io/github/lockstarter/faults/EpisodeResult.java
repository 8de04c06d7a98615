// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.faults.checks.Violation;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.nemesis.Fault;
import io.github.lockstarter.faults.worker.Competitor;
import io.github.lockstarter.faults.worker.Ledger.Balance;

/**
 * The result of one episode.
 *
 * @param competitor the competitor whose locks were attacked
 * @param store what keeps the locks
 * @param fault the fault
 * @param history the observations of the workers
 * @param overlaps all times at which two owners believed that they held the same lock
 * @param violations the broken promises
 * @param untimely those of them that a machine that stands still may break
 * @param lostPlain the number of lost updates of unprotected counters
 * @param lostGuarded the number of lost updates of guarded counters
 * @param transactions the transactions that knew nothing of locks
 * @param refused the number of long waits that ended without the lock although it was
 * free
 * @param recovery time from the end of the fault until all workers had held a lock again,
 * or {@code null} if that did not happen
 * @param leftKeys the number of keys, rows or nodes left in the store
 * @param inconclusive whether only promises about time were broken, while the machine
 * stood still, so that the episode must be repeated
 */
record EpisodeResult(Competitor competitor, String store, Fault fault, History history, List<Violation> overlaps,
		List<Violation> violations, List<Violation> untimely, long lostPlain, long lostGuarded, Balance transactions,
		long refused, @Nullable Duration recovery, int leftKeys, boolean inconclusive) {

	/**
	 * Return the broken promises that no slow machine explains.
	 */
	List<Violation> unsafe() {
		return this.violations.stream().filter((violation) -> !this.untimely.contains(violation)).toList();
	}

}
