// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockDefinitionParserTests {

	@Test
	void textBecomesADuration() {
		Cases.rows("""
				500ms | PT0.5S
				PT3S | PT3S
				1h30m | PT1H30M
				""", (text, expected) -> assertThat(LockDefinitionParser.duration(text))
			.isEqualTo(Duration.parse(expected)));
		assertThat(LockDefinitionParser.duration(" 2m ")).isEqualTo(Duration.ofMinutes(2));
	}

	@Test
	void blankTextIsNoDuration() {
		Cases.each(List.of("", "  "), (text) -> assertThat(LockDefinitionParser.duration(text)).isNull());
	}

	@Test
	void aBareNumberIsRefusedBecauseNobodyKnowsItsUnit() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockDefinitionParser.duration("30"))
			.withMessage("'30' has no unit");
	}

	@Test
	void textThatIsNoDurationIsRefused() {
		Cases.each(List.of("3 apples", "99999999999999999999s"),
				(text) -> assertThatIllegalArgumentException().isThrownBy(() -> LockDefinitionParser.duration(text))
					.withMessage("'" + text + "' is not a duration"));
	}

}
