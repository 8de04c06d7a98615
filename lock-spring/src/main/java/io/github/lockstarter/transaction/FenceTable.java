// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;

import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.store.TableCheck;
import io.github.lockstarter.store.UnusableStoreException;

/**
 * The table in which the transactions of a database claim the fencing tokens of their
 * locks, on PostgreSQL, MySQL, MariaDB and H2.
 *
 * <p>
 * Applications that share the table must share the stores of the locks, too, and know
 * them by the same names: the tokens of different stores cannot be compared.
 */
public final class FenceTable {

	/** The name of the table in the scripts. */
	public static final String DEFAULT_NAME = "distributed_lock_fence";

	/**
	 * Location of the scripts that create the table, with a placeholder for the platform
	 * as Spring Boot's initializers know it.
	 */
	public static final String SCHEMA = "classpath:io/github/lockstarter/fencing/schema-@@platform@@.sql";

	private static final Log logger = LogFactory.getLog(FenceTable.class);

	/** A start waits no longer for a database that does not answer. */
	private static final int PATIENCE_SECONDS = 10;

	private static final Map<String, Object> LARGEST_ROW = Map.of("token", Long.MAX_VALUE, "claimed_at",
			Long.MAX_VALUE);

	private static final String TASK = "claim of a fencing token";

	/** H2: there is a row that the transaction did not see. */
	private static final int DUPLICATE = 23505;

	/** MariaDB and H2: another transaction has changed the row since the snapshot. */
	private static final Set<Integer> CHANGED = Set.of(1020, 90131, DUPLICATE);

	/** MariaDB, MySQL and H2. */
	private static final Set<Integer> WAITED = Set.of(1205, 50200);

	private static final String WAITED_ON_POSTGRESQL = "55P03";

	/** PostgreSQL, MariaDB and MySQL. */
	private static final String READ_ONLY = "25006";

	private final DataSource dataSource;

	private final String name;

	private final Duration retention;

	/** Tables of other sources of connections, and whether they are this one. */
	private final Map<FenceTable, Boolean> others = new ConcurrentHashMap<>(2);

	private volatile @Nullable Dialect dialect;

	/**
	 * Create a table of the default name.
	 * @param dataSource the connections of the transactions
	 * @throws FencingNotPossibleException if they are to several databases
	 */
	public FenceTable(DataSource dataSource) {
		this(dataSource, DEFAULT_NAME, FencingSettings.DEFAULTS.retention());
	}

	/**
	 * Create a table.
	 * @param dataSource the connections of the transactions
	 * @param name the name of the table, with its schema if the database needs it
	 * @param retention how long the last token of an idle lock is kept; longer than any
	 * transaction may be late
	 * @throws FencingNotPossibleException if they are to several databases
	 */
	public FenceTable(DataSource dataSource, String name, Duration retention) {
		// Transactions are bound to the connections behind this proxy
		this.dataSource = (dataSource instanceof TransactionAwareDataSourceProxy proxy
				&& proxy.getTargetDataSource() != null) ? proxy.getTargetDataSource() : dataSource;
		this.name = name;
		this.retention = retention;
		if (isRouting(dataSource)) {
			throw new FencingNotPossibleException(
					"Transactions cannot be fenced, because their DataSource chooses between several databases",
					FencingNotPossibleException.BY_HAND);
		}
	}

	/**
	 * Return whether each transaction chooses one of several databases.
	 */
	public static boolean isRouting(DataSource dataSource) {
		DataSource target = dataSource;
		while (target instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
			target = proxy.getTargetDataSource();
		}
		try {
			return target instanceof AbstractRoutingDataSource || target.isWrapperFor(AbstractRoutingDataSource.class);
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("A DataSource does not say what it wraps", ex);
			return false;
		}
	}

	/**
	 * Return the platform of a database: {@code postgresql}, {@code mysql},
	 * {@code mariadb} or {@code h2}.
	 * @param dataSource opens one connection to ask
	 * @throws SQLException if the database cannot be asked
	 * @throws FencingNotPossibleException if transactions of this kind of database cannot
	 * be fenced
	 */
	public static String platform(DataSource dataSource) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			return Dialect.of(connection).name().toLowerCase(Locale.ROOT);
		}
	}

	/**
	 * Return the location of the script that creates the table.
	 * @param dataSource opens one connection to ask for the {@linkplain #platform
	 * platform}
	 * @throws SQLException if the database cannot be asked
	 */
	public static String schema(DataSource dataSource) throws SQLException {
		return SCHEMA.replace("@@platform@@", platform(dataSource));
	}

	/**
	 * Return the connections of the transactions.
	 */
	public DataSource dataSource() {
		return this.dataSource;
	}

	/**
	 * Return whether another object stands for the same table, which its database is
	 * asked once.
	 */
	boolean isSame(FenceTable other) throws SQLException {
		if (this.dataSource == other.dataSource || !this.name.equals(other.name)) {
			return this.name.equals(other.name);
		}
		Boolean same = this.others.get(other);
		if (same == null) {
			same = new TableCheck(this.name, LARGEST_ROW).isShared(this.dataSource, other.dataSource);
			this.others.put(other, same);
		}
		return same;
	}

	/**
	 * Return the name of the table.
	 */
	public String name() {
		return this.name;
	}

	/**
	 * Check at the start of an application that transactions can claim in the table, as
	 * far as the database can be asked, and delete the claims of locks that are idle.
	 * @throws FenceTableException if they cannot
	 * @throws FencingNotPossibleException if transactions of this kind of database cannot
	 * be fenced
	 */
	public void require() {
		try {
			// One that is unknown has no statement for claims
			try (Connection connection = this.dataSource.getConnection()) {
				dialect(connection);
			}
			new TableCheck(this.name, LARGEST_ROW).run(this.dataSource, this::requireClaims);
			try (Connection connection = this.dataSource.getConnection()) {
				deleteIdle(connection);
			}
		}
		catch (UnusableStoreException ex) {
			throw new FenceTableException(this.name, ex);
		}
		catch (SQLException ex) {
			if (translate(ex) instanceof FenceTableException refused) {
				throw refused;
			}
			logger.warn(READ_ONLY.equals(ex.getSQLState())
					? "The connections of fenced transactions are read-only (" + FailureReason.of(ex)
							+ "). Under a lock, transactions fail unless they are read-only, too"
					: "The database of fenced transactions cannot be asked (" + FailureReason.of(ex)
							+ "). They fail until it can be, and has the table '" + this.name + "'");
		}
	}

	/** Text has another order, and a floating point cannot tell these two apart. */
	private void requireClaims(Connection connection, String key) throws SQLException {
		if (!claim(connection, key, Long.MAX_VALUE) || claim(connection, key, Long.MAX_VALUE - 1)
				|| claim(connection, key, 99)) {
			throw new UnusableStoreException(
					"its column 'lock_key' must be the primary key, and 'token' an integer of 64 bits", null);
		}
	}

	/**
	 * Only the rows of idle locks are locked: a deletion that looks for them would wait
	 * for the claims of open transactions, and keep others waiting meanwhile.
	 */
	private void deleteIdle(Connection connection) {
		String idle = " from " + this.name + " where claimed_at < %s - ?";
		try (PreparedStatement select = connection
			.prepareStatement("select lock_key" + idle.formatted(dialect(connection).now));
				PreparedStatement delete = connection
					.prepareStatement("delete" + idle.formatted(dialect(connection).now) + " and lock_key = ?")) {
			select.setQueryTimeout(PATIENCE_SECONDS);
			delete.setQueryTimeout(PATIENCE_SECONDS);
			select.setLong(1, this.retention.toMillis());
			delete.setLong(1, this.retention.toMillis());
			try (ResultSet rows = select.executeQuery()) {
				while (rows.next()) {
					delete.setString(2, rows.getString(1));
					delete.addBatch();
				}
			}
			delete.executeBatch();
			// With H2, the time-out is that of the whole connection
			delete.setQueryTimeout(0);
			// Some pools hand out connections without automatic commits
			if (!connection.getAutoCommit()) {
				connection.commit();
			}
		}
		catch (SQLException ex) {
			logger.warn("Idle claims of fencing tokens could not be deleted from the table '" + this.name
					+ "', which is tried again at the next start: " + FailureReason.of(ex));
		}
	}

	/**
	 * Claim a token in a transaction. Waits until transactions that have claimed another
	 * one have ended.
	 * @return whether no larger token is claimed
	 */
	boolean claim(Connection connection, String key, long token) throws SQLException {
		Dialect dialect = dialect(connection);
		try {
			return claim(connection, dialect, key, token);
		}
		catch (SQLException ex) {
			if (ex.getErrorCode() != DUPLICATE) {
				throw ex;
			}
			// Another transaction has inserted the row meanwhile
			return claim(connection, dialect, key, token);
		}
	}

	private boolean claim(Connection connection, Dialect dialect, String key, long token) throws SQLException {
		try (PreparedStatement claim = connection.prepareStatement(dialect.claim.formatted(this.name))) {
			DataSourceUtils.applyTransactionTimeout(claim, this.dataSource);
			claim.setString(1, key);
			claim.setLong(2, token);
			if (claim.execute()) {
				return first(claim.getResultSet()) == token;
			}
			if (dialect != Dialect.MYSQL) {
				return claim.getUpdateCount() > 0;
			}
		}
		try (PreparedStatement claimed = connection
			.prepareStatement("select token from " + this.name + " where lock_key = ? for update")) {
			claimed.setString(1, key);
			return first(claimed.executeQuery()) == token;
		}
	}

	private static long first(ResultSet rows) throws SQLException {
		rows.next();
		return rows.getLong(1);
	}

	private Dialect dialect(Connection connection) throws SQLException {
		Dialect dialect = this.dialect;
		if (dialect == null) {
			dialect = Dialect.of(connection);
			this.dialect = dialect;
		}
		return dialect;
	}

	/**
	 * Return what an error of the database means for a claim.
	 */
	DataAccessException translate(SQLException ex) {
		if (CHANGED.contains(ex.getErrorCode())) {
			return new CannotAcquireLockException(
					TASK + ": the transaction began before another owner's claim. Acquire the lock first; "
							+ ex.getMessage(),
					ex);
		}
		if (WAITED.contains(ex.getErrorCode()) || WAITED_ON_POSTGRESQL.equals(ex.getSQLState())) {
			return new CannotAcquireLockException(
					TASK + ": the transaction of another owner was still open at the lock time-out of the database."
							+ " Repeat the call, and limit the time of transactions; " + ex.getMessage(),
					ex);
		}
		DataAccessException translated = new SQLExceptionSubclassTranslator().translate(TASK, null, ex);
		if (translated instanceof BadSqlGrammarException) {
			return new FenceTableException(this.name, ex);
		}
		return (translated != null) ? translated : new UncategorizedSQLException(TASK, null, ex);
	}

	@Override
	public String toString() {
		return this.name;
	}

	/**
	 * How databases tell the time, because the clocks of JVMs may differ, and write a
	 * claim. Parameters: key, token.
	 */
	private enum Dialect {

		POSTGRESQL("cast(extract(epoch from clock_timestamp()) * 1000 as bigint)", """
				insert into %1$s (lock_key, token, claimed_at) values (?, ?, {now})
				on conflict (lock_key) do update set token = excluded.token, claimed_at = excluded.claimed_at
				where %1$s.token <= excluded.token"""),

		MYSQL("timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) div 1000", """
				insert into %1$s (lock_key, token, claimed_at) values (?, ?, {now})
				on duplicate key update claimed_at = if(token <= values(token), values(claimed_at), claimed_at),
				token = greatest(token, values(token))"""),

		MARIADB(MYSQL.now, MYSQL.claim + " returning token"),

		H2("cast(extract(epoch from current_timestamp(3)) * 1000 as bigint)",
				"""
						merge into %1$s claimed using (values (cast(? as varchar), cast(? as bigint))) claim (lock_key, token)
						on claimed.lock_key = claim.lock_key
						when matched and claimed.token <= claim.token then update set token = claim.token, claimed_at = {now}
						when not matched then insert (lock_key, token, claimed_at) values (claim.lock_key, claim.token, {now})""");

		private final String now;

		private final String claim;

		Dialect(String now, String claim) {
			this.now = now;
			this.claim = claim.replace("{now}", now);
		}

		static Dialect of(Connection connection) throws SQLException {
			String product = connection.getMetaData().getDatabaseProductName();
			return switch (product) {
				case "PostgreSQL" -> POSTGRESQL;
				case "MySQL" -> MYSQL;
				case "MariaDB" -> MARIADB;
				case "H2" -> H2;
				default -> throw new FencingNotPossibleException(
						"Transactions of the database " + product
								+ " cannot be fenced: PostgreSQL, MySQL, MariaDB and H2 claim in one statement",
						FencingNotPossibleException.BY_HAND
								+ ", and name the manager of these transactions in distributed-lock.fencing.exclude, or set"
								+ " distributed-lock.fencing.transactions=false");
			};
		}

	}

}
