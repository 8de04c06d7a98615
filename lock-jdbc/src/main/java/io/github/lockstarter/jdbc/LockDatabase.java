// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.beans.BeansException;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.store.DatabaseAddress;

/**
 * Runs the statements of the locks on connections of their own, never on the connection
 * of the caller's transaction. Each statement is limited in time, and is repeated if the
 * database has rolled it back because of another one, or may not write.
 */
final class LockDatabase {

	private static final Log logger = LogFactory.getLog(LockDatabase.class);

	private static final int ATTEMPTS = 5;

	/** The database has this long to report that a statement was too slow. */
	private static final Duration SILENCE_MARGIN = Duration.ofSeconds(1);

	private final DataSource dataSource;

	private final JdbcLockSettings settings;

	private final int timeoutSeconds;

	private final int silenceMillis;

	private volatile @Nullable Dialect dialect;

	private volatile @Nullable LockSql sql;

	private volatile String address;

	private volatile boolean silenceLimited = true;

	/**
	 * Create a database without connecting.
	 * @param dialect the dialect, or {@code null} to ask the database
	 */
	LockDatabase(DataSource dataSource, JdbcLockSettings settings, @Nullable Dialect dialect) {
		this.dataSource = withoutTransactions(dataSource);
		this.address = DatabaseAddress.of(configuredUrl(dataSource));
		this.settings = settings;
		this.dialect = dialect;
		this.timeoutSeconds = Math.toIntExact(settings.queryTimeout().plusMillis(999).toSeconds());
		this.silenceMillis = Math.toIntExact(Duration.ofSeconds(this.timeoutSeconds).plus(SILENCE_MARGIN).toMillis());
	}

	static DataSource withoutTransactions(DataSource dataSource) {
		DataSource target = dataSource;
		while (target instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
			target = proxy.getTargetDataSource();
		}
		return target;
	}

	/**
	 * Run statements of which each is a transaction of its own.
	 */
	<T extends @Nullable Object> T autocommit(Work<T> work) {
		return run(true, work);
	}

	/**
	 * Run statements that are one transaction together.
	 */
	<T extends @Nullable Object> T transaction(Work<T> work) {
		return run(false, work);
	}

	/**
	 * Open the first connection, for which the driver loads its classes. It is tried
	 * once, because callers wait for it beyond their wait times.
	 */
	void connect() {
		try (Connection connection = open()) {
			sql(connection);
		}
		catch (SQLException ex) {
			throw failure(ex);
		}
	}

	/**
	 * Open a connection that the caller closes.
	 */
	Connection open() throws SQLException {
		return this.dataSource.getConnection();
	}

	RuntimeException failure(SQLException ex) {
		return SqlErrors.toThrow(ex, this.settings.table());
	}

	private <T extends @Nullable Object> T run(boolean autoCommit, Work<T> work) {
		for (int attempt = 1;; attempt++) {
			try {
				return attempt(autoCommit, work);
			}
			catch (SQLException ex) {
				boolean again = SqlErrors.isReadOnly(ex) ? attempt == 1 && Pools.renew(this.dataSource)
						: attempt < ATTEMPTS && SqlErrors.isConcurrency(ex);
				if (!again) {
					throw failure(ex);
				}
			}
		}
	}

	private <T extends @Nullable Object> T attempt(boolean autoCommit, Work<T> work) throws SQLException {
		try (Connection connection = open()) {
			boolean autoCommitBefore = connection.getAutoCommit();
			int silenceBefore = limitSilence(connection);
			try {
				if (autoCommitBefore != autoCommit) {
					connection.setAutoCommit(autoCommit);
				}
				T result = work.run(session(connection), sql(connection));
				if (!autoCommit) {
					connection.commit();
				}
				return result;
			}
			catch (SQLException | RuntimeException | Error ex) {
				rollBack(connection, autoCommit, ex);
				throw ex;
			}
			finally {
				restore(connection, autoCommitBefore, silenceBefore);
			}
		}
	}

	/**
	 * Return a session on a connection to this database, from wherever it is.
	 */
	SqlSession session(Connection connection) {
		return new SqlSession(connection, this.timeoutSeconds);
	}

	LockSql sql(Connection connection) throws SQLException {
		LockSql sql = this.sql;
		if (sql == null) {
			Dialect dialect = this.dialect;
			dialect = (dialect != null) ? dialect : Dialect.of(connection);
			String address = DatabaseAddress.of(connection.getMetaData().getURL());
			this.address = address.isEmpty() ? this.address : address;
			sql = new LockSql(dialect, dialect.skipsLocked(connection.getMetaData()), this.settings);
			this.sql = sql;
		}
		return sql;
	}

	/**
	 * Return the address of the database, which may be empty until the first connection.
	 */
	String address() {
		return this.address;
	}

	/**
	 * Return the URL in the settings of a source of connections, for messages about a
	 * database that was never reached.
	 */
	private static @Nullable String configuredUrl(DataSource dataSource) {
		DataSource target = dataSource;
		while (target instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
			target = proxy.getTargetDataSource();
		}
		BeanWrapper settings = new BeanWrapperImpl(target);
		try {
			return Stream.of("jdbcUrl", "url", "URL")
				.filter(settings::isReadableProperty)
				.map(settings::getPropertyValue)
				.filter(String.class::isInstance)
				.map(String.class::cast)
				.findFirst()
				.orElse(null);
		}
		catch (BeansException ex) {
			logger.debug("The URL of the database is not known before the first connection", ex);
			return null;
		}
	}

	/**
	 * Limit how long the driver waits for a server that says nothing at all.
	 * @return the limit before, or -1 if the driver cannot do that
	 */
	int limitSilence(Connection connection) throws SQLException {
		if (!this.silenceLimited) {
			return -1;
		}
		try {
			// A pool would take the refusal of the driver for a broken connection
			Connection unpooled = connection.unwrap(Connection.class);
			int before = unpooled.getNetworkTimeout();
			unpooled.setNetworkTimeout(Runnable::run, this.silenceMillis);
			return before;
		}
		catch (SQLFeatureNotSupportedException | AbstractMethodError ex) {
			logger.debug("The driver cannot limit the time without an answer", ex);
			this.silenceLimited = false;
			return -1;
		}
	}

	private static void rollBack(Connection connection, boolean autoCommit, Throwable failure) {
		if (!autoCommit) {
			try {
				connection.rollback();
			}
			catch (SQLException ex) {
				failure.addSuppressed(ex);
			}
		}
	}

	/**
	 * A connection for which this fails is broken, as the next one to use it will see.
	 */
	static void restore(Connection connection, boolean autoCommit, int silenceMillis) {
		try {
			if (connection.getAutoCommit() != autoCommit) {
				connection.setAutoCommit(autoCommit);
			}
			if (silenceMillis >= 0) {
				connection.setNetworkTimeout(Runnable::run, silenceMillis);
			}
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be restored", ex);
		}
	}

	/**
	 * The pools that can be told to replace their connections.
	 */
	private static final class Pools {

		private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
				LockDatabase.class.getClassLoader());

		/**
		 * Let a pool open new connections. After a failover, all old ones may lead to the
		 * former primary, also those that only read.
		 * @return whether the source is such a pool
		 */
		static boolean renew(DataSource dataSource) {
			try {
				if (HIKARI && dataSource.isWrapperFor(HikariDataSource.class)) {
					dataSource.unwrap(HikariDataSource.class).getHikariPoolMXBean().softEvictConnections();
					return true;
				}
			}
			catch (SQLException ex) {
				logger.debug("The pool is unknown", ex);
			}
			return false;
		}

	}

	/**
	 * Statements on one connection.
	 */
	@FunctionalInterface
	interface Work<T extends @Nullable Object> {

		T run(SqlSession session, LockSql sql) throws SQLException;

	}

}
