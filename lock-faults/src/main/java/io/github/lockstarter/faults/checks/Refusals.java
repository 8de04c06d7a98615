// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.time.Duration;
import java.util.List;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

/**
 * Finds the waits that ended without the lock although nobody held it.
 */
public final class Refusals {

	/** A shorter wait may end before the lock could be granted. */
	private static final long LEAST = Duration.ofMillis(500).toNanos();

	private Refusals() {
	}

	/**
	 * Return the refusals of one lock that was free for the whole wait, at least half a
	 * second.
	 * @param leaseTime how long a lock may stay taken after a release that failed
	 */
	public static List<Attempt> find(History history, Duration leaseTime) {
		List<Attempt> holds = history.holds();
		return history.attempts()
			.stream()
			.filter((attempt) -> attempt.has(Step.REFUSED) && attempt.at(Step.REFUSED) - attempt.at(Step.ASK) >= LEAST)
			.filter((attempt) -> holds.stream()
				.noneMatch((hold) -> hold.at(Step.GRANTED) < attempt.at(Step.REFUSED)
						&& end(hold, leaseTime) > attempt.at(Step.ASK)))
			.toList();
	}

	private static long end(Attempt hold, Duration leaseTime) {
		return hold.has(Step.GAVE) ? hold.at(Step.GAVE) : hold.heldUntil() + leaseTime.toNanos();
	}

}
