// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

/**
 * Checks whether two owners were sure to hold the same lock at the same time.
 *
 * <p>
 * An owner that was granted a lock and later saw it as held was sure of it all the time
 * in between: after a loss, a lease never counts as held again.
 */
public final class Overlaps {

	private Overlaps() {
	}

	/**
	 * Return the overlaps in the history of one lock that are longer than allowed.
	 * @param allowed the longest allowed overlap in nanoseconds
	 */
	public static List<Violation> check(History history, long allowed) {
		List<Attempt> holds = history.holds()
			.stream()
			.filter((attempt) -> !attempt.isNested())
			.sorted(Comparator.comparingLong((attempt) -> attempt.at(Step.GRANTED)))
			.toList();
		List<Violation> violations = new ArrayList<>();
		List<Attempt> open = new ArrayList<>();
		for (Attempt hold : holds) {
			long from = hold.at(Step.GRANTED);
			open.removeIf((earlier) -> earlier.heldUntil() <= from);
			for (Attempt earlier : open) {
				long overlap = Math.min(earlier.heldUntil(), hold.heldUntil()) - from;
				if (overlap > allowed) {
					violations.add(new Violation("exclusion",
							"two owners of %s for %.1f ms".formatted(hold.key(), overlap / 1e6),
							List.of(earlier, hold)));
				}
			}
			open.add(hold);
		}
		return violations;
	}

}
