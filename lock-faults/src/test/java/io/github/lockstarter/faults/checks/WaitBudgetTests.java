// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

import static org.assertj.core.api.Assertions.assertThat;

class WaitBudgetTests {

	@ParameterizedTest
	@EnumSource(names = { "GRANTED", "REFUSED", "UNKNOWN" })
	void aWaitThatWentOnForTooLongIsFoundHoweverItEnded(Step end) {
		Attempt late = attempt(10).note(end, 21);
		assertThat(check(late, attempt(10).note(end, 20))).singleElement()
			.satisfies((violation) -> assertThat(violation.attempts()).containsExactly(late));
	}

	@Test
	void aWaitThatWasInterruptedHasToEndEarlier() {
		assertThat(check(attempt(30).note(Step.DUE, 5).note(Step.UNKNOWN, 30))).hasSize(1);
	}

	@Test
	void oneWhoseProcessDiedIsNoWaitThatWentOn() {
		assertThat(check(attempt(10))).isEmpty();
	}

	@Test
	void howLongTheLockIsHeldDoesNotCount() {
		assertThat(check(attempt(10).note(Step.GRANTED, 9).note(Step.GAVE, 99))).isEmpty();
	}

	private static Attempt attempt(long due) {
		return new Attempt("a-1", Histories.KEY, false).note(Step.ASK, 0).note(Step.DUE, due);
	}

	private static List<Violation> check(Attempt... attempts) {
		return WaitBudget.check(new History(List.of(attempts)), Duration.ofNanos(10));
	}

}
