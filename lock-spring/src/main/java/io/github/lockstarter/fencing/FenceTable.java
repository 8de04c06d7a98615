// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * The table in which the transactions of a database claim the fencing tokens of their
 * locks. {@link FenceSchema} has scripts that create it.
 *
 * <p>
 * Applications that share the table must share the stores of the locks, too, and know
 * them by the same names: the tokens of different stores cannot be compared.
 */
public final class FenceTable {

	private static final Log logger = LogFactory.getLog(FenceTable.class);

	/** The name of the table in the scripts. */
	public static final String DEFAULT_NAME = "distributed_lock_fence";

	static final Duration DEFAULT_RETENTION = Duration.ofDays(1);

	private final DataSource dataSource;

	private final String name;

	private final IdleClaims idle;

	private final OpenTransactions open = new OpenTransactions();

	private volatile @Nullable FenceSql sql;

	/**
	 * Create a table of the default name.
	 * @param dataSource the connections of the transactions
	 */
	public FenceTable(DataSource dataSource) {
		this(dataSource, DEFAULT_NAME, DEFAULT_RETENTION);
	}

	/**
	 * Create a table.
	 * @param dataSource the connections of the transactions
	 * @param name the name of the table, with its schema if the database needs it
	 * @param retention how long the last token of an idle lock is kept; longer than any
	 * transaction may be late
	 */
	public FenceTable(DataSource dataSource, String name, Duration retention) {
		this(dataSource, name, retention, Clock.systemUTC());
	}

	FenceTable(DataSource dataSource, String name, Duration retention, Clock clock) {
		this.dataSource = withoutTransactions(dataSource);
		this.name = name;
		this.idle = new IdleClaims(this, retention, clock);
	}

	/**
	 * Transactions are bound to the connections behind this proxy.
	 */
	private static DataSource withoutTransactions(DataSource dataSource) {
		return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
				? proxy.getTargetDataSource() : dataSource;
	}

	/**
	 * Return the connections of the transactions.
	 */
	public DataSource dataSource() {
		return this.dataSource;
	}

	/**
	 * Return the name of the table.
	 */
	public String name() {
		return this.name;
	}

	/**
	 * Check that the table exists and can be read.
	 * @throws FenceTableException if not
	 * @throws SQLException if the database cannot be asked
	 */
	public void require() throws SQLException {
		try (Connection connection = this.dataSource.getConnection();
				PreparedStatement statement = connection
					.prepareStatement("select lock_key, token, claimed_at from " + this.name + " where 1 = 0")) {
			statement.executeQuery().close();
		}
		catch (SQLException ex) {
			if (FenceErrors.toThrow(ex, this) instanceof FenceTableException missing) {
				throw missing;
			}
			throw ex;
		}
	}

	/**
	 * Check that the table exists, as far as the database can be asked.
	 * @throws FenceTableException if not
	 */
	public void requireIfReachable() {
		try {
			require();
		}
		catch (SQLException ex) {
			logger.warn("The database of fenced transactions cannot be asked (" + ex.getMessage()
					+ "). They fail until it can be, and has the table '" + this.name + "'");
		}
	}

	/**
	 * Return whether the connections are to several databases, of which none can be asked
	 * before a transaction chooses it.
	 */
	boolean isRouted() {
		DataSource target = this.dataSource;
		while (target instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
			target = proxy.getTargetDataSource();
		}
		return target instanceof AbstractRoutingDataSource;
	}

	/**
	 * Return what tells the database of a connection from others.
	 */
	static String databaseOf(Connection connection) throws SQLException {
		return connection.getMetaData().getURL() + " " + connection.getCatalog() + " " + connection.getSchema();
	}

	/**
	 * Return the transactions of the current thread that may have claimed.
	 */
	OpenTransactions open() {
		return this.open;
	}

	/**
	 * Return the statements for a transaction.
	 */
	FenceStatements statements(Connection connection) throws SQLException {
		this.idle.deleteNowAndThen();
		return new FenceStatements(connection, this.dataSource, sql(connection));
	}

	FenceSql sql(Connection connection) throws SQLException {
		FenceSql sql = this.sql;
		if (sql == null) {
			sql = new FenceSql(this.name, FenceDialect.of(connection));
			this.sql = sql;
		}
		return sql;
	}

	@Override
	public String toString() {
		return this.name;
	}

}
