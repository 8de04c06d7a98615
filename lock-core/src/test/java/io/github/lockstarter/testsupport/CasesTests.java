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
			.withMessageContaining("[\"2\", \"two\"]\nerror: ")
			.withMessageContaining(
					"[\"x\", \"no number\"]\nerror: java.lang.AssertionError: java.lang.NumberFormatException")
			.withMessageContaining("[\"3\", \"three\"]\nerror: ")
			.satisfies((failure) -> assertThat(failure.getMessage()).doesNotContain("[\"1\", \"one\"]\nerror: "));
		assertThat(checked).containsExactly("one", "two", "no number", "three");
	}

	@Test
	void aTableWithoutCasesOrWithAnotherNumberOfColumnsFails() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> Cases.each(List.of(), (value) -> {
		})).withMessageContaining("not to be empty");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> Cases.rows("a | b", (a, b, c) -> {
		})).withMessageContaining("Expected size: 3 but was: 2");
	}

}
