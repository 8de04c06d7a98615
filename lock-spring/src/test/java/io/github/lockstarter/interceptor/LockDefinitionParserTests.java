// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockDefinitionParserTests {

	@ParameterizedTest
	@CsvSource({ "500ms, PT0.5S", "PT3S, PT3S", "' 2m ', PT2M", "1h30m, PT1H30M" })
	void textBecomesADuration(String text, Duration expected) {
		assertThat(LockDefinitionParser.duration(text)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "  " })
	void blankTextIsNoDuration(String text) {
		assertThat(LockDefinitionParser.duration(text)).isNull();
	}

	@Test
	void aBareNumberIsRefusedBecauseNobodyKnowsItsUnit() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockDefinitionParser.duration("30"))
			.withMessage("'30' has no unit");
	}

	@ParameterizedTest
	@ValueSource(strings = { "3 apples", "99999999999999999999s" })
	void otherTextIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockDefinitionParser.duration(text))
			.withMessage("'" + text + "' is not a duration");
	}

}
