// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the errors of real databases mean.
 */
class SqlErrorsTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void onlyARowThatExistsIsADuplicate(TestDatabase database) throws SQLException {
		String key = OwnerToken.randomId();
		try (Connection connection = database.unpooled().getConnection()) {
			SqlSession session = new SqlSession(connection, 2);
			assertThat(isDuplicate(session, key, "owner")).isNull();
			assertThat(isDuplicate(session, key, "owner")).isTrue();
			assertThat(isDuplicate(session, key + 2, "x".repeat(129))).isFalse();
			assertThat(isDuplicate(session, null, "owner")).isFalse();
		}
	}

	@Test
	void theErrorsOfReplicasAreKnown() {
		Cases.rows("""
				25006 | 0 | true
				HY000 | 1290 | true
				HY000 | 1836 | true
				40001 | 1213 | false
				""", (state, code, readOnly) -> {
			SQLException error = new SQLException("", state, Integer.parseInt(code));
			assertThat(SqlErrors.isReadOnly(error)).isEqualTo(Boolean.valueOf(readOnly));
		});
	}

	/**
	 * Insert a row.
	 * @return whether it is a duplicate, or {@code null} if it was inserted
	 */
	private static @Nullable Boolean isDuplicate(SqlSession session, @Nullable String key, String owner) {
		try {
			session.update("insert into " + TestDatabase.SETTINGS.table()
					+ " (lock_key, owner, expires_at, fence) values (?, ?, 0, 0)", key, owner);
			return null;
		}
		catch (SQLException ex) {
			return SqlErrors.isDuplicate(ex);
		}
	}

}
