// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.jdbc.JdbcLockSettings;
import io.github.lockstarter.jdbc.JdbcLockStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.transaction.LockCommitGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A transaction in another database or without one, or a savepoint, within a transaction
 * in the database of the lock.
 */
class NestedTransactionTests {

	private static final LockRequest REQUEST = LockRequest.of("nested");

	/**
	 * Changes every row, after a renewal if one is under way, unless a transaction has
	 * locked one.
	 */
	private static final String TOUCH = "update distributed_lock set told_at = told_at";

	private final DataSource own = new DriverManagerDataSource(
			"jdbc:h2:mem:nested;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=5000");

	private final DataSource application = new DriverManagerDataSource("jdbc:h2:mem:nested;DB_CLOSE_DELAY=-1");

	private final DataSource elsewhere = new DriverManagerDataSource("jdbc:h2:mem:elsewhere;DB_CLOSE_DELAY=-1");

	private final JdbcTemplate jdbc = new JdbcTemplate(this.own);

	private final ManualTime time = new ManualTime();

	private final JdbcLockStore store;

	private final DefaultLockRegistry registry;

	private final LockTemplate locks;

	NestedTransactionTests() {
		DatabasePopulatorUtils.execute(
				new ResourceDatabasePopulator(new ClassPathResource("io/github/lockstarter/jdbc/schema-h2.sql")),
				this.own);
		this.store = new JdbcLockStore(this.own, JdbcLockSettings.DEFAULTS, this.application);
		this.registry = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS, LockListener.NO_OP, this.time);
		this.locks = new LockTemplate(this.registry);
	}

	@AfterEach
	void close() {
		this.registry.close();
		this.store.close();
		this.jdbc.execute("drop table distributed_lock");
	}

	@Test
	void theRowStaysFreeForRenewalsUntilTheOuterTransactionCommits() {
		AtomicInteger touched = new AtomicInteger();
		this.locks.executeWithoutResult(REQUEST,
				(lease) -> transactions(this.application).executeWithoutResult((outer) -> {
					transactions(this.elsewhere).executeWithoutResult((inner) -> {
					});
					touched.set(this.jdbc.update(TOUCH));
				}));
		assertThat(touched).hasValue(1);
	}

	/** Such as one that sends messages. */
	@ParameterizedTest
	@ValueSource(ints = { AbstractPlatformTransactionManager.SYNCHRONIZATION_ALWAYS,
			AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER })
	void theLockIsRenewedAfterATransactionWithoutADatabaseWithinTheOuterOne(int synchronization) {
		TransactionTemplate elsewhere = guarded(new MessageTransactionManager(synchronization));
		theLockIsRenewedAfter(() -> elsewhere.executeWithoutResult((inner) -> {
		}));
	}

	@Test
	void theLockIsRenewedAfterASavepointOfTheTransaction() {
		TransactionTemplate savepoint = transactions(this.application);
		savepoint.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		theLockIsRenewedAfter(() -> savepoint.executeWithoutResult((inner) -> {
		}));
	}

	/** The outer transaction commits, so the lock was not lost. */
	private void theLockIsRenewedAfter(Runnable inner) {
		this.locks.executeWithoutResult(REQUEST,
				(lease) -> transactions(this.application).executeWithoutResult((outer) -> {
					inner.run();
					Long end = expiresAt();
					// The clock of the database may not have moved yet
					Awaitility.await().pollInSameThread().until(() -> {
						this.time.advance(Duration.ofSeconds(1));
						return expiresAt() > end || !lease.isHeld();
					});
				}));
	}

	private long expiresAt() {
		Long end = this.jdbc.queryForObject("select expires_at from distributed_lock", Long.class);
		return (end != null) ? end : 0;
	}

	@Test
	void theOuterTransactionIsChecked() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.executeWithoutResult(REQUEST,
				(lease) -> transactions(this.application).executeWithoutResult((outer) -> {
					transactions(this.elsewhere).executeWithoutResult((inner) -> {
					});
					this.jdbc.update("update distributed_lock set owner = 'another'");
				})))
			.withMessageContaining("over at the commit");
	}

	@Test
	void anInnerTransactionInTheDatabaseIsChecked() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.executeWithoutResult(REQUEST,
				(lease) -> transactions(this.elsewhere).executeWithoutResult((outer) -> {
					this.jdbc.update("update distributed_lock set owner = 'another'");
					transactions(this.application).executeWithoutResult((inner) -> {
					});
				})))
			.withMessageContaining("over at the commit");
	}

	private static TransactionTemplate transactions(DataSource dataSource) {
		return guarded(new DataSourceTransactionManager(dataSource));
	}

	private static TransactionTemplate guarded(AbstractPlatformTransactionManager manager) {
		manager.addListener(new LockCommitGuard());
		return new TransactionTemplate(manager);
	}

	/**
	 * Transactions that use no connection to a database.
	 */
	private static final class MessageTransactionManager extends AbstractPlatformTransactionManager {

		MessageTransactionManager(int synchronization) {
			setTransactionSynchronization(synchronization);
		}

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
