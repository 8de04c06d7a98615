// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.sql.SQLException;
import java.util.Map;
import java.util.function.Predicate;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.io.ResourceLoader;

import io.github.lockstarter.store.DatabaseAddress;
import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.transaction.FenceTable;
import io.github.lockstarter.transaction.FenceTableException;
import io.github.lockstarter.transaction.FenceTablePreparation;
import io.github.lockstarter.transaction.FencingNotPossibleException;

/**
 * Creates the tables of claims, as the properties say, and ends the start if one is
 * missing. For connections that are fenced only because they lead to the database of the
 * locks, it warns: all of their transactions may be read-only.
 *
 * @param fencing when and how to create them
 * @param locks when to create the one in the database of the locks, too
 * @param keepsLocks whether a {@link DataSource} is for the database that keeps the locks
 * @param besideLocks whether it is another one for the database that keeps them
 * @param resourceLoader finds the script
 */
record FencingTables(FencingProperties fencing, JdbcLockProperties.SchemaInitialization locks,
		Predicate<DataSource> keepsLocks, Predicate<DataSource> besideLocks,
		ResourceLoader resourceLoader) implements FenceTablePreparation {

	private static final Log logger = LogFactory.getLog(FencingTables.class);

	@Override
	public void prepare(FenceTable table) {
		TableScript script = new TableScript(this.fencing.schema(), this.fencing.platform(), FenceTable::platform,
				Map.of(FenceTable.DEFAULT_NAME, table.name()), this.resourceLoader);
		try {
			TableScript.Problem<FenceTableException> problem = script.prepare(table.dataSource(), () -> isWanted(table),
					table::require, FenceTableException.class);
			if (problem != null) {
				FencingNotPossibleException refusal = refusal(table, problem);
				if (this.fencing.transactions() != null || !this.besideLocks.test(table.dataSource())) {
					throw refusal;
				}
				logger.warn(refusal.getProblem()
						+ ". Under a lock of the store 'jdbc', its transactions fail unless they are read-only: "
						+ refusal.getRemedy());
			}
		}
		catch (SQLException ex) {
			throw new FenceTableException(table.name(), ex);
		}
	}

	/** The script of the locks creates it with their own table, unless that exists. */
	private boolean isWanted(FenceTable table) throws SQLException {
		return TableScript.isWanted(this.fencing.initializeSchema(), table.dataSource())
				|| (this.keepsLocks.test(table.dataSource()) && TableScript.isWanted(this.locks, table.dataSource()));
	}

	private FencingNotPossibleException refusal(FenceTable table, TableScript.Problem<FenceTableException> problem)
			throws SQLException {
		boolean unasked = this.fencing.transactions() == null && this.keepsLocks.test(table.dataSource());
		String address = "'" + DatabaseAddress.of(DatabaseAddress.urlOf(table.dataSource())) + "'";
		String reason = ", but cannot claim fencing tokens in its table '" + table.name() + "' ("
				+ FailureReason.of((problem.script() != null) ? problem.script() : problem.table()) + ")";
		String script = unasked
				? "run the second statement of the script for your database in"
						+ " io/github/lockstarter/jdbc of lock-jdbc"
				: "create it with the script for your database in io/github/lockstarter/fencing of lock-spring";
		String always = isWanted(table) ? ""
				: "; or set distributed-lock." + (unasked ? "jdbc" : "fencing") + ".initialize-schema=always";
		return new FencingNotPossibleException(
				(unasked ? "The locks are kept in the database of this DataSource (" + address
						+ "), so its transactions are fenced"
						: "Transactions of the DataSource " + address + " are fenced") + reason,
				script + ", and grant the user select, insert, update and delete on the table" + always
						+ "; or, if the transactions of this database need no fence, set distributed-lock.fencing.transactions=false,"
						+ " or name their manager in distributed-lock.fencing.exclude");
	}

}
