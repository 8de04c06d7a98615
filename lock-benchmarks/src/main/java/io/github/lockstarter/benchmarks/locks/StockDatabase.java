// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.transaction.FenceTable;
import io.github.lockstarter.transaction.TransactionFence;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.transaction.LockCommitGuard;

/**
 * A table of items and how much there is of each, with transactions at
 * {@code READ COMMITTED}. The locks are kept in memory, so that a measurement shows the
 * cost of the transactions.
 */
final class StockDatabase implements AutoCloseable {

	private final HikariDataSource connections;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	private final DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore());

	private final LockTemplate locks = new LockTemplate(this.registry);

	private final Map<String, Integer> items = new ConcurrentHashMap<>();

	/**
	 * Create the table.
	 * @param fenced whether transactions claim the token of their lock
	 */
	StockDatabase(HikariDataSource connections, boolean fenced) {
		this.connections = connections;
		this.jdbc = new JdbcTemplate(connections);
		this.jdbc.execute("create table if not exists stock (item varchar(40) primary key, amount int, version int)");
		JdbcTransactionManager manager = new JdbcTransactionManager(connections);
		manager.addListener(new LockCommitGuard());
		if (fenced) {
			createFenceTable(connections);
			manager.addListener(new TransactionFence(manager, new FenceTable(connections)));
		}
		this.transactions = new TransactionTemplate(manager);
		this.transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
	}

	private static void createFenceTable(HikariDataSource connections) {
		try {
			String location = FenceTable.schema(connections);
			DatabasePopulatorUtils
				.execute(new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(location)), connections);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	void ensureItem(String item) {
		this.items.computeIfAbsent(item,
				(missing) -> this.jdbc.update("insert into stock values (?, 1000000000, 0)", missing));
	}

	void locked(String item, Runnable sale) {
		this.locks.executeWithoutResult(LockRequest.of("stock", item).withWaitTime(LockRequest.FOREVER),
				(lease) -> sale.run());
	}

	<T> T inTransaction(Supplier<T> work) {
		return Objects.requireNonNull(this.transactions.execute((status) -> work.get()));
	}

	/**
	 * Return the amount and the version of an item.
	 */
	int[] read(String item, String lockClause) {
		return Objects
			.requireNonNull(this.jdbc.queryForObject("select amount, version from stock where item = ?" + lockClause,
					(row, number) -> new int[] { row.getInt(1), row.getInt(2) }, item));
	}

	boolean write(String item, int amount) {
		return this.jdbc.update("update stock set amount = ? where item = ?", amount, item) > 0;
	}

	boolean writeIfUnchanged(String item, int amount, int version) {
		return this.jdbc.update("update stock set amount = ?, version = ? where item = ? and version = ?", amount,
				version + 1, item, version) > 0;
	}

	@Override
	public void close() {
		this.registry.close();
		this.connections.close();
	}

}
