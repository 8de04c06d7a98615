// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

import static io.github.lockstarter.faults.checks.Histories.hold;
import static io.github.lockstarter.faults.checks.Histories.lost;
import static org.assertj.core.api.Assertions.assertThat;

class OverlapsTests {

	@Test
	void oneAfterTheOtherIsFine() {
		assertThat(check(0, hold("a", 1, 0, 10, 20, 30), hold("b", 2, 5, 21, 40, 50))).isEmpty();
	}

	@Test
	void twoOwnersAtOnceAreFound() {
		Attempt first = hold("a", 1, 0, 10, 20, 30);
		Attempt second = hold("b", 2, 5, 19, 40, 50);
		assertThat(check(0, second, first)).singleElement()
			.satisfies((violation) -> assertThat(violation.attempts()).containsExactly(first, second));
	}

	@Test
	void aHoldWithinALongOneIsFound() {
		assertThat(check(0, hold("a", 1, 0, 10, 100, 110), hold("b", 2, 5, 19, 20, 21), hold("c", 3, 5, 50, 51, 52)))
			.hasSize(2);
	}

	@Test
	void whatIsAllowedIsNoViolation() {
		assertThat(check(1, hold("a", 1, 0, 10, 20, 30), hold("b", 2, 5, 19, 40, 50))).isEmpty();
	}

	@Test
	void anOwnerThatWasPausedAndNeverHeardThatItStillHeldTheLockHadNoBelief() {
		Attempt paused = lost("a", 1, 0, 10, 12);
		assertThat(check(0, paused, hold("b", 2, 5, 100, 120, 130))).isEmpty();
	}

	@Test
	void anOwnerThatWasPausedAndStillBelievedInItIsFound() {
		Attempt paused = lost("a", 1, 0, 10, 12).note(Step.HELD, 110);
		assertThat(check(0, paused, hold("b", 2, 5, 100, 120, 130))).hasSize(1);
	}

	private static List<Violation> check(long allowed, Attempt... attempts) {
		return Overlaps.check(new History(List.of(attempts)), allowed);
	}

}
