// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

/**
 * Checks that each wait ended at the end of its wait time, or when it was interrupted.
 */
public final class WaitBudget {

	private WaitBudget() {
	}

	/**
	 * Return the waits that took too long.
	 * @param allowed the allowed excess of a wait, for a command without a reply and a
	 * busy machine
	 */
	public static List<Violation> check(History history, Duration allowed) {
		return history.attempts()
			.stream()
			.filter((attempt) -> attempt.has(Step.DUE) && overdue(attempt) > allowed.toNanos())
			.map((attempt) -> new Violation("wait budget",
					"a wait for %s went on for %d ms after it should have ended".formatted(attempt.key(),
							Duration.ofNanos(overdue(attempt)).toMillis()),
					List.of(attempt)))
			.toList();
	}

	/**
	 * Return how long an attempt has waited for its answer, or 0 if it got none.
	 */
	public static long waited(Attempt attempt) {
		return answeredAfter(attempt, Step.ASK);
	}

	private static long overdue(Attempt attempt) {
		return answeredAfter(attempt, Step.DUE);
	}

	private static long answeredAfter(Attempt attempt, Step step) {
		return LongStream.of(attempt.at(Step.GRANTED), attempt.at(Step.REFUSED), attempt.at(Step.UNKNOWN))
			.filter((end) -> end != Attempt.NEVER)
			.map((end) -> end - attempt.at(step))
			.max()
			.orElse(0);
	}

}
