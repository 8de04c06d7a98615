// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.fencing.FenceTable;
import io.github.lockstarter.fencing.TransactionFence;
import io.github.lockstarter.transaction.LockCommitGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Fenced transactions in the database that keeps the locks, without a table of claims.
 */
class FencedTransactionInStoreTests {

	private final LockRequest request = LockRequest.of("stock", UUID.randomUUID());

	/** Another owner comes while the transaction is open. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLateOwnerIsRefusedEvenIfItsLossIsOnlyLogged(TestDatabase database) {
		try (HikariDataSource own = database.pool(8);
				HikariDataSource application = database.pool(2);
				DefaultLockRegistry first = registry(own, application);
				DefaultLockRegistry second = registry(own, application)) {
			JdbcClient jdbc = JdbcClient.create(application);
			jdbc.sql("create table if not exists in_store_ledger (item varchar(80))").update();
			TransactionTemplate transaction = fenced(application);
			LockTemplate late = new LockTemplate(first).withOnLost(OnLost.LOG)
				.withTransactionFencing(TransactionFencing.ON);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> late.execute(this.request, (lease) -> transaction.execute((status) -> {
					loseLock(own);
					CompletableFuture
						.runAsync(() -> new LockTemplate(second).execute(this.request,
								(later) -> transaction.execute((begun) -> write(jdbc))))
						.orTimeout(30, TimeUnit.SECONDS)
						.join();
					return write(jdbc);
				})));
			assertThat(jdbc.sql("select count(*) from in_store_ledger where item = ?")
				.param(this.request.key().text())
				.query(Integer.class)
				.single()).isOne();
		}
	}

	private static DefaultLockRegistry registry(HikariDataSource own, HikariDataSource application) {
		return new DefaultLockRegistry(new JdbcLockStore(own, TestDatabase.SETTINGS, application));
	}

	private static TransactionTemplate fenced(HikariDataSource pool) {
		JdbcTransactionManager manager = new JdbcTransactionManager(pool);
		manager.addListener(new LockCommitGuard());
		manager.addListener(new TransactionFence(manager, new FenceTable(pool)));
		TransactionTemplate transaction = new TransactionTemplate(manager);
		transaction.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		return transaction;
	}

	private void loseLock(HikariDataSource own) {
		JdbcClient.create(own)
			.sql("delete from distributed_lock where lock_key like ?")
			.param("%" + this.request.key().text())
			.update();
	}

	private int write(JdbcClient jdbc) {
		return jdbc.sql("insert into in_store_ledger values (?)").param(this.request.key().text()).update();
	}

}
