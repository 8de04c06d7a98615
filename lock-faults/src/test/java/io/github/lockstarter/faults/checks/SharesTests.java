// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;

import static io.github.lockstarter.faults.checks.Histories.hold;
import static io.github.lockstarter.faults.checks.Histories.nested;
import static org.assertj.core.api.Assertions.assertThat;

class SharesTests {

	@Test
	void oneWithASmallShareIsFound() {
		assertThat(check(grants(15, 5))).isEmpty();
		assertThat(check(grants(16, 5))).singleElement()
			.satisfies((violation) -> assertThat(violation.message()).contains("b got 5"));
	}

	@Test
	void oneThatGotNothingIsFound() {
		assertThat(check(grants(7, 0))).hasSize(1);
	}

	@Test
	void nestedGrantsDoNotCount() {
		List<Attempt> attempts = grants(9, 2);
		for (int i = 0; i < 9; i++) {
			attempts.add(nested("b-1", 1, 0, 1, 2, 3));
		}
		assertThat(check(attempts)).hasSize(1);
	}

	private static List<Attempt> grants(int ofA, int ofB) {
		List<Attempt> attempts = new ArrayList<>();
		for (int i = 0; i < ofA + ofB; i++) {
			attempts.add(hold((i < ofA) ? "a-1" : "b-1", i, 0, 1, 2, 3));
		}
		return attempts;
	}

	private static List<Violation> check(List<Attempt> attempts) {
		return Shares.check(new History(attempts), List.of("a", "b"), 0.5);
	}

}
