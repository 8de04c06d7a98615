// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

/**
 * Checks that no two grants of a lock have the same fencing token, and that a grant has a
 * larger one than all grants that preceded its request.
 *
 * <p>
 * After the store has lost a lock, its owner may hand it on until it notices the loss.
 * Such a grant is later than that of the new owner, but must have a smaller token, by
 * which the resource recognizes it. In that case only the grants of the store are
 * ordered.
 */
public final class TokenOrder {

	private TokenOrder() {
	}

	/**
	 * Return the violations in the history of one lock.
	 * @param ordered whether the token of a grant has to be larger than earlier ones
	 */
	public static List<Violation> check(History history, Predicate<Attempt> ordered) {
		List<Attempt> holds = history.holds().stream().filter((attempt) -> !attempt.isNested()).toList();
		List<Violation> violations = new ArrayList<>();
		Map<Long, Attempt> byToken = new HashMap<>();
		for (Attempt hold : holds) {
			Attempt same = byToken.put(hold.token(), hold);
			if (same != null) {
				violations.add(new Violation("fencing tokens", "the same token twice", List.of(same, hold)));
			}
		}
		violations.addAll(checkOrder(holds.stream().filter(ordered).toList()));
		return violations;
	}

	private static List<Violation> checkOrder(List<Attempt> holds) {
		List<Violation> violations = new ArrayList<>();
		List<Attempt> byGrant = holds.stream()
			.sorted(Comparator.comparingLong((attempt) -> attempt.at(Step.GRANTED)))
			.toList();
		int granted = 0;
		Attempt largest = null;
		for (Attempt hold : holds) {
			while (granted < byGrant.size() && byGrant.get(granted).at(Step.GRANTED) < hold.at(Step.ASK)) {
				largest = larger(largest, byGrant.get(granted++));
			}
			if (largest != null && largest.token() > hold.token()) {
				violations
					.add(new Violation("fencing tokens", "a later grant with a smaller token", List.of(largest, hold)));
			}
		}
		return violations;
	}

	private static Attempt larger(@Nullable Attempt a, Attempt b) {
		return (a != null && a.token() > b.token()) ? a : b;
	}

}
