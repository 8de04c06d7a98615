// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The statements that change rows at the end of a transaction. The driver of PostgreSQL
 * sends them together with the commit, so that the rows are locked for one round trip
 * instead of one for each statement.
 */
final class LastStatements {

	/** Each number of statements is another text to prepare. */
	private static final int MOST_TOGETHER = 4;

	private final List<String> statements = new ArrayList<>();

	private final List<@Nullable Object[]> parameters = new ArrayList<>();

	void add(String statement, @Nullable Object... parameters) {
		this.statements.add(statement);
		this.parameters.add(parameters);
	}

	/**
	 * Run the statements. On PostgreSQL, this may commit the transaction.
	 */
	void run(SqlSession session, Dialect dialect) throws SQLException {
		if (dialect == Dialect.POSTGRESQL && !this.statements.isEmpty() && this.statements.size() <= MOST_TOGETHER) {
			List<@Nullable Object> all = new ArrayList<>();
			this.parameters.forEach((each) -> all.addAll(Arrays.asList(each)));
			session.execute(String.join("; ", this.statements) + "; commit", all.toArray());
			return;
		}
		for (int i = 0; i < this.statements.size(); i++) {
			session.execute(this.statements.get(i), this.parameters.get(i));
		}
	}

}
