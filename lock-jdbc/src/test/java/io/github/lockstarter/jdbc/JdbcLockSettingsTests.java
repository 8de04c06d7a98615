// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The settings of the store.
 */
class JdbcLockSettingsTests {

	@ParameterizedTest
	@ValueSource(strings = { "", "distributed_", "app.", "App1.my_" })
	void aPrefixMayContainASchema(String prefix) {
		assertThat(settings(prefix, Duration.ofSeconds(1)).table()).isEqualTo(prefix + "lock");
	}

	@ParameterizedTest
	@ValueSource(strings = { " ", "a b", "a;", "'", "\"a\".", "a.b.c_", "ä", "lock --" })
	void aPrefixContainsNoOtherSql(String prefix) {
		assertThatIllegalArgumentException().isThrownBy(() -> settings(prefix, Duration.ofSeconds(1)))
			.withMessageContaining("tablePrefix");
	}

	@Test
	void durationsArePositive() {
		assertThatIllegalArgumentException().isThrownBy(() -> settings("a", Duration.ZERO))
			.withMessageContaining("queryTimeout");
	}

	private static JdbcLockSettings settings(String prefix, Duration queryTimeout) {
		return new JdbcLockSettings(prefix, queryTimeout, true, true, Duration.ofSeconds(1), Duration.ofSeconds(2),
				Duration.ofHours(1));
	}

}
