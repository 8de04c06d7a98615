// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class CasesTests {

	@Test
	void allCasesAreCheckedAndEachThatFailsIsNamed() {
		List<String> checked = new ArrayList<>();
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> Cases.rows("""
				1 | one
				2 | two
				x | no number
				3 | three
				""", (number, name) -> {
			checked.add(name);
			assertThat(Integer.parseInt(number)).isEqualTo(1);
		}))
			.withMessageContaining("Case 2, [\"2\", \"two\"]: \nexpected: 1\n but was: 2")
			.withMessageContaining("Case 3, [\"x\", \"no number\"]: java.lang.NumberFormatException")
			.withMessageContaining("Case 4, ")
			.satisfies((failure) -> assertThat(failure.getMessage()).doesNotContain("Case 1, "));
		assertThat(checked).containsExactly("one", "two", "no number", "three");
	}

	@Test
	void aTableWithoutCasesOrWithAnotherNumberOfColumnsFails() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> Cases.each(List.of(), (value) -> {
		})).withMessageContaining("number of cases");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> Cases.rows("a | b", (a, b, c) -> {
		})).withMessageContaining("Expected size: 3 but was: 2");
	}

}
