// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The settings of the store.
 */
@Order(1)
class JdbcLockSettingsTests {

	@Test
	void aTableMayBeInASchema() {
		Cases.each(List.of("locks", "distributed_lock", "app.locks", "App1.my_lock$"),
				(table) -> assertThat(settings(table, Duration.ofSeconds(1)).table()).isEqualTo(table));
	}

	@Test
	void aTableContainsNoOtherSql() {
		Cases.each(List.of("", " ", "app.", "a b", "a;", "'", "\"a\".b", "a.b.c_", "ä", "lock --"),
				(table) -> assertThatIllegalArgumentException().isThrownBy(() -> settings(table, Duration.ofSeconds(1)))
					.withMessageContaining("'table'"));
	}

	@Test
	void durationsArePositive() {
		assertThatIllegalArgumentException().isThrownBy(() -> settings("a", Duration.ZERO))
			.withMessageContaining("queryTimeout");
	}

	private static JdbcLockSettings settings(String table, Duration queryTimeout) {
		return new JdbcLockSettings(table, queryTimeout, true, true, Duration.ofSeconds(1), Duration.ofSeconds(2),
				Duration.ofHours(1));
	}

}
