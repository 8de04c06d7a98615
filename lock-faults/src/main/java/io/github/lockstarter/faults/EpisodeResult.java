// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.faults.checks.Violation;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.nemesis.Fault;
import io.github.lockstarter.faults.worker.Competitor;

/**
 * What came of one episode.
 *
 * @param competitor whose locks were attacked
 * @param fault what went wrong
 * @param history what the workers saw
 * @param overlaps every time two owners believed that they hold the same lock
 * @param violations what must not be
 * @param lostPlain how many updates of the counters without protection were lost
 * @param lostGuarded how many updates of the guarded counters were lost
 * @param recovery from the end of the fault until all workers had held a lock again, or
 * {@code null} if that did not happen
 * @param leftKeys how many keys were left in Redis
 */
record EpisodeResult(Competitor competitor, Fault fault, History history, List<Violation> overlaps,
		List<Violation> violations, long lostPlain, long lostGuarded, @Nullable Duration recovery, int leftKeys) {

}
