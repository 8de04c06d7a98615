// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.sql.SQLException;
import java.util.Map;
import java.util.function.Predicate;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.ResourceLoader;

import io.github.lockstarter.transaction.FenceTable;
import io.github.lockstarter.transaction.FenceTableException;
import io.github.lockstarter.transaction.FenceTablePreparation;
import io.github.lockstarter.transaction.FencingNotPossibleException;

/**
 * Creates the tables of claims, as the properties say, and ends the start if one is
 * missing.
 *
 * @param fencing when and how to create them
 * @param locks when to create the one in the database of the locks, too
 * @param keepsLocks whether a {@link DataSource} keeps the locks
 * @param resourceLoader finds the script
 */
record FencingTables(FencingProperties fencing, JdbcLockProperties.SchemaInitialization locks,
		Predicate<DataSource> keepsLocks, ResourceLoader resourceLoader) implements FenceTablePreparation {

	@Override
	public void prepare(FenceTable table) {
		Exception missing = missing(table);
		Exception failure = null;
		if (missing != null && isWanted(table)) {
			failure = new TableScript(this.fencing.schema(), this.fencing.platform(),
					Map.of(FenceTable.DEFAULT_NAME, table.name()))
				.run(table.dataSource(), this.resourceLoader, FenceTable::platform);
			missing = missing(table);
		}
		if (missing != null) {
			throw refusal(table, (failure != null) ? failure : missing);
		}
	}

	private static @Nullable Exception missing(FenceTable table) {
		try {
			table.require();
			return null;
		}
		catch (FenceTableException ex) {
			return ex;
		}
	}

	/** The script of the locks creates it with their own table, unless that exists. */
	private boolean isWanted(FenceTable table) {
		return isWanted(this.fencing.initializeSchema(), table)
				|| (this.keepsLocks.test(table.dataSource()) && isWanted(this.locks, table));
	}

	private static boolean isWanted(JdbcLockProperties.SchemaInitialization when, FenceTable table) {
		return switch (when) {
			case ALWAYS -> true;
			case EMBEDDED -> EmbeddedDatabaseConnection.isEmbedded(table.dataSource());
			case NEVER -> false;
		};
	}

	private FencingNotPossibleException refusal(FenceTable table, Exception reason) {
		boolean unasked = this.fencing.transactions() == null && this.keepsLocks.test(table.dataSource());
		String lacks = " has no table '" + table.name() + "', or the user may not use it ("
				+ NestedExceptionUtils.getMostSpecificCause(reason).getMessage() + ")";
		String problem = unasked
				? "The locks are kept in this DataSource ('" + address(table)
						+ "'), so its transactions are fenced, but it" + lacks
				: "Transactions of the DataSource '" + address(table) + "' are fenced, but it" + lacks;
		String script = unasked
				? "run the second statement of the script for your database in"
						+ " io/github/lockstarter/jdbc of lock-jdbc"
				: "create it with the script for your database in io/github/lockstarter/fencing of lock-spring";
		String always = isWanted(table) ? ""
				: "; or set distributed-lock." + (unasked ? "jdbc" : "fencing") + ".initialize-schema=always";
		return new FencingNotPossibleException(problem, script
				+ ", and grant the user select, insert, update and delete on the table" + always
				+ "; or, if the transactions of this database need no fence, set distributed-lock.fencing.transactions=false,"
				+ " or name their manager in distributed-lock.fencing.exclude");
	}

	private static String address(FenceTable table) {
		try {
			return DatabaseAddress.withoutSecrets(DatabaseAddress.urlOf(table.dataSource()));
		}
		catch (SQLException ex) {
			return "unknown";
		}
	}

}
