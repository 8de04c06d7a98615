// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;

import static io.github.lockstarter.faults.checks.Histories.hold;
import static io.github.lockstarter.faults.checks.Histories.nested;
import static org.assertj.core.api.Assertions.assertThat;

class TokenOrderTests {

	@Test
	void growingTokensAreFine() {
		assertThat(check(hold("a", 1, 0, 10, 20, 30), hold("b", 5, 15, 31, 40, 50))).isEmpty();
	}

	@Test
	void theSameTokenTwiceIsFound() {
		assertThat(check(hold("a", 1, 0, 10, 20, 30), hold("b", 1, 5, 31, 40, 50))).hasSize(1);
	}

	@Test
	void aSmallerTokenThanThatOfAnEarlierGrantIsFound() {
		assertThat(check(hold("a", 7, 0, 10, 20, 30), hold("b", 8, 11, 31, 40, 50), hold("c", 3, 41, 51, 60, 70)))
			.hasSize(1);
	}

	@Test
	void requestsAtTheSameTimeMayBeGrantedInEitherOrder() {
		assertThat(check(hold("a", 2, 0, 10, 20, 30), hold("b", 1, 9, 31, 40, 50))).isEmpty();
	}

	@Test
	void aNestedGrantSharesTheTokenOfItsOuterOne() {
		assertThat(check(hold("a", 2, 0, 10, 20, 30), nested("a", 2, 11, 12, 13, 14))).isEmpty();
	}

	@Test
	void aLateGrantOfAnOwnerThatHasLostTheLockIsSmallerAndUnique() {
		Attempt handedOn = hold("a", 1, 40, 50, 60, 70);
		Attempt granted = hold("b", 8, 0, 10, 20, 30);
		History history = new History(List.of(granted, handedOn));
		assertThat(TokenOrder.check(history, (hold) -> hold != handedOn)).isEmpty();
		assertThat(TokenOrder.check(history, (hold) -> true)).hasSize(1);
	}

	private static List<Violation> check(Attempt... attempts) {
		return TokenOrder.check(new History(List.of(attempts)), (hold) -> true);
	}

}
