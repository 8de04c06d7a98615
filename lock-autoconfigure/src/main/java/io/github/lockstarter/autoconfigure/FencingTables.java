// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Map;

import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.ResourceLoader;

import io.github.lockstarter.fencing.FenceTable;
import io.github.lockstarter.fencing.FenceTableException;
import io.github.lockstarter.fencing.FenceTablePreparation;
import io.github.lockstarter.fencing.FencingNotPossibleException;

/**
 * Creates the tables of claims, as the properties say, and ends the start if one is
 * missing.
 *
 * @param properties when and how to create them
 * @param resourceLoader finds the script
 */
record FencingTables(FencingProperties properties, ResourceLoader resourceLoader) implements FenceTablePreparation {

	@Override
	public void prepare(FenceTable table) {
		Exception failure = isWanted(table) ? new TableScript(this.properties.schema(), this.properties.platform(),
				Map.of(FenceTable.DEFAULT_NAME, table.name()))
			.run(table.dataSource(), this.resourceLoader, FenceTable::platform) : null;
		try {
			table.require();
		}
		catch (FenceTableException ex) {
			Throwable reason = NestedExceptionUtils.getMostSpecificCause((failure != null) ? failure : ex);
			throw new FencingNotPossibleException(
					"The database of a DataSource has no table '" + table.name()
							+ "' for fenced transactions, or the user may not use it (" + reason.getMessage() + ")",
					"create it with the script for your database in io/github/lockstarter/fencing of lock-spring, and"
							+ " grant the user select, insert, update and delete on it; or set"
							+ " distributed-lock.fencing.initialize-schema=always; or, if the transactions of this"
							+ " database need no fence, set distributed-lock.fencing.transactions=false, or name their"
							+ " manager in distributed-lock.fencing.exclude");
		}
	}

	private boolean isWanted(FenceTable table) {
		return switch (this.properties.initializeSchema()) {
			case ALWAYS -> true;
			case EMBEDDED -> EmbeddedDatabaseConnection.isEmbedded(table.dataSource());
			case NEVER -> false;
		};
	}

}
