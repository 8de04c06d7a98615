// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.sql.SQLException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

import io.github.lockstarter.store.DatabaseAddress;
import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.store.TableCheck;
import io.github.lockstarter.transaction.FenceTable;

/**
 * Pools of connections for the locks, to the database of the application: neither bodies
 * that occupy all connections of the application nor threads that acquire locks must keep
 * locks from being renewed. The pools are no {@link DataSource} beans, because Spring
 * Boot would use them for more.
 */
final class LockPools implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockPools.class);

	/** Shorter than a lease, so that a request fails in time to be repeated. */
	private static final long TIMEOUT_MILLIS = 2000;

	/** One for renewals, and one for releases. */
	private static final int FEWEST_OWNED = 2;

	/** A row that no lock has, and that is kept until it is deleted. */
	private static final Map<String, Object> ROW = Map.of("expires_at", Long.MAX_VALUE, "fence", 0L);

	/** There are as many releases as acquisitions, but shorter ones. */
	private static final int OWNED_SHARE = 2;

	private final DataSource application;

	private final String table;

	/** Connections that take no part in transactions of the caller. */
	private final DataSource shared;

	/** Other sources of connections, and whether they lead to the same database. */
	private final Map<DataSource, Boolean> others = Collections.synchronizedMap(new IdentityHashMap<>());

	private final @Nullable HikariDataSource acquiring;

	private final @Nullable HikariDataSource owned;

	/**
	 * Create pools, which open connections when they are needed.
	 * @param application the connections of the application
	 * @param size the largest number of connections to acquire locks
	 * @param table the name of the table of the locks
	 */
	LockPools(DataSource application, int size, String table) {
		requireOneDatabase(application);
		this.application = application;
		this.table = table;
		this.shared = withoutTransactions(application);
		HikariConfig config = copy(application);
		if (config != null && config.getCredentialsProvider() == null) {
			// The application may get other ones while it runs
			config.setCredentialsProvider(() -> Objects.requireNonNullElse(copy(application), config).getCredentials());
		}
		this.acquiring = (config != null) ? pool(config, "distributed-lock", size) : null;
		this.owned = (config != null)
				? pool(config, "distributed-lock-owned", Math.max(FEWEST_OWNED, size / OWNED_SHARE)) : null;
		if (config == null) {
			logger
				.warn("The locks share the connections of the application, because the settings of a DataSource of type "
						+ application.getClass().getName()
						+ " are unknown: if bodies occupy all connections, locks can be"
						+ " lost. Annotate a DataSource bean that the application does not use with @DistributedLockDataSource,"
						+ " which may be another one for the same database");
		}
	}

	private static void requireOneDatabase(DataSource application) {
		if (FenceTable.isRouting(application)) {
			throw new LockStoreNotFoundException(
					"Distributed locks need one database, but the DataSource for them chooses between several ("
							+ application.getClass().getName() + ")",
					"annotate the DataSource bean of one database with @DistributedLockDataSource");
		}
	}

	private static DataSource withoutTransactions(DataSource application) {
		DataSource target = (application instanceof TransactionAwareDataSourceProxy proxy) ? proxy.getTargetDataSource()
				: null;
		return (target != null) ? withoutTransactions(target) : application;
	}

	private static @Nullable HikariConfig copy(DataSource application) {
		HikariDataSource source = DataSourceUnwrapper.unwrap(application, HikariConfigMXBean.class,
				HikariDataSource.class);
		HikariConfig config = new HikariConfig();
		if (source != null) {
			source.copyStateTo(config);
			return config;
		}
		try (HikariDataSource derived = DataSourceBuilder.derivedFrom(application)
			.type(HikariDataSource.class)
			.build()) {
			derived.copyStateTo(config);
			return config;
		}
		catch (RuntimeException ex) {
			logger.debug("The settings of the DataSource are unknown", ex);
			return null;
		}
	}

	private static HikariDataSource pool(HikariConfig config, String name, int size) {
		HikariDataSource pool = new HikariDataSource();
		config.copyStateTo(pool);
		pool.setPoolName(name);
		pool.setRegisterMbeans(false);
		// The connection for messages is held for long
		pool.setLeakDetectionThreshold(0);
		pool.setMaximumPoolSize(size);
		pool.setMinimumIdle(0);
		pool.setConnectionTimeout(TIMEOUT_MILLIS);
		pool.setValidationTimeout(TIMEOUT_MILLIS / 2);
		pool.setInitializationFailTimeout(-1);
		pool.setAutoCommit(true);
		pool.setReadOnly(false);
		pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		return pool;
	}

	/**
	 * Return the connections of the application.
	 */
	DataSource application() {
		return this.application;
	}

	/**
	 * Return whether connections lead to the database of the locks, so that the
	 * transactions on them and the locks are in the same database. It is asked once.
	 */
	boolean isFor(DataSource dataSource) {
		if (isApplication(dataSource)) {
			return true;
		}
		Boolean known = this.others.get(dataSource);
		if (known == null) {
			known = seesLocks(dataSource);
			this.others.put(dataSource, known);
		}
		return known;
	}

	private boolean seesLocks(DataSource dataSource) {
		String problem = "Transactions of the DataSource " + name(dataSource) + " are not fenced by default";
		try {
			boolean sees = new TableCheck(this.table, ROW).isShared(acquiring(), dataSource);
			if (!sees) {
				logger.info(problem + ", because the table '" + this.table + "' of the locks is not seen through it");
			}
			return sees;
		}
		catch (SQLException | RuntimeException ex) {
			logger.warn(problem + " until the next start, because it is unknown whether its database keeps the locks ("
					+ FailureReason.of(ex) + "). If it does, let its user select from the table '" + this.table
					+ "', or set distributed-lock.fencing.transactions=true");
			return false;
		}
	}

	private static String name(DataSource dataSource) {
		HikariConfig config = copy(dataSource);
		String address = DatabaseAddress.of((config != null) ? config.getJdbcUrl() : null);
		return address.isEmpty() ? "of type " + dataSource.getClass().getName() : "'" + address + "'";
	}

	/**
	 * Return whether connections are those from which the pools are made.
	 */
	boolean isApplication(DataSource dataSource) {
		return withoutTransactions(dataSource) == this.shared;
	}

	/**
	 * Return the connections that acquire locks, and wait for messages.
	 */
	DataSource acquiring() {
		return (this.acquiring != null) ? this.acquiring : this.shared;
	}

	/**
	 * Return the connections that renew and release locks.
	 */
	DataSource owned() {
		return (this.owned != null) ? this.owned : this.shared;
	}

	@Override
	public void close() {
		for (HikariDataSource pool : new HikariDataSource[] { this.acquiring, this.owned }) {
			if (pool != null) {
				pool.close();
			}
		}
	}

}
