// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.StringUtils;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.testsupport.CapturedLog;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A lock that is acquired inside a transaction may come after what the transaction has
 * read.
 */
@ExtendWith(CapturedLog.Extension.class)
class LateLockTests {

	private static final String WARNING = " is acquired inside the transaction 'sale'. What this transaction read"
			+ " before may be stale";

	private static final LockRequest STOCK = LockRequest.of("stock", 1001);

	private final List<LockEvent> late = new CopyOnWriteArrayList<>();

	private final DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore());

	private final DataSource dataSource = new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2)
		.generateUniqueName(true)
		.build();

	private final TransactionTemplate transaction = transactionOf(this.dataSource);

	private final LockRegistry locks = locks(OnActiveTransaction.DEFAULT);

	private final LockTemplate lock = new LockTemplate(this.locks);

	@AfterEach
	void close() {
		this.registry.close();
	}

	@Test
	void aNameIsWarnedOfOnceAndEachAcquisitionIsAnEvent(CapturedLog log) {
		this.transaction.executeWithoutResult((status) -> {
			run(this.lock, STOCK);
			run(this.lock.withOnLost(OnLost.LOG), LockRequest.of("stock", 2));
			assertThat(count(log, WARNING)).isOne();
			run(this.lock, LockRequest.of("order", 1));
			this.lock.executeWithoutResult(List.of(LockRequest.of("shelf", 1), LockRequest.of("shelf", 2)),
					(leases) -> {
					});
		});
		assertThat(log).contains("Lock 'stock'" + WARNING, "Lock 'order'" + WARNING,
				"The set of locks 'shelf'" + WARNING, "REPEATABLE READ",
				"it may keep a database connection of the pool", "Acquire the lock before the transaction begins",
				"distributed-lock.on-active-transaction=fail",
				"Propagation.REQUIRES_NEW, and set it to defer if this is intended", "logged once for each lock name");
		assertThat(this.late).hasSize(5)
			.startsWith(new LockEvent.Late(STOCK.key(), LockMode.EXCLUSIVE, "memory", "inside the transaction 'sale'",
					"sale"));
	}

	@Test
	void aLeaseOfTheRegistryIsWarnedOf(CapturedLog log) {
		this.transaction.executeWithoutResult((status) -> {
			this.locks.acquire(STOCK).close();
			this.locks.lock(LockKey.of("order", 1)).lock();
			this.locks.lock(LockKey.of("order", 1)).unlock();
		});
		assertThat(log).contains("Lock 'stock'" + WARNING, "Lock 'order'" + WARNING);
		assertThat(this.late).extracting(LockEvent::key).containsExactly(STOCK.key(), LockKey.of("order", 1));
	}

	@Test
	void aTransactionWithoutANameIsActiveAllTheSame(CapturedLog log) {
		this.transaction.setName(null);
		this.transaction.executeWithoutResult((status) -> run(this.lock, STOCK));
		assertThat(log).contains("Lock 'stock' is acquired inside a transaction. What");
		assertThat(this.late).containsExactly(
				new LockEvent.Late(STOCK.key(), LockMode.EXCLUSIVE, "memory", "inside a transaction", null));
	}

	@ParameterizedTest
	@EnumSource(names = { "DEFER", "RELEASE_ON_RETURN" })
	void anApplicationThatHasDecidedIsNotWarned(OnActiveTransaction decided, CapturedLog log) {
		this.transaction.executeWithoutResult((status) -> run(new LockTemplate(locks(decided)), STOCK));
		assertThat(log).doesNotContain("What this transaction read");
		assertThat(this.late).isEmpty();
	}

	@Test
	void aReentrantLockIsAsOldAsItsFirstHold(CapturedLog log) {
		this.lock.executeWithoutResult(STOCK,
				(lease) -> this.transaction.executeWithoutResult((status) -> run(this.lock, STOCK)));
		assertThat(log).doesNotContain(WARNING);
		assertThat(this.late).isEmpty();
		this.lock.executeWithoutResult(STOCK,
				(lease) -> this.transaction.executeWithoutResult((status) -> run(this.lock, LockRequest.of("order"))));
		assertThat(log).contains(WARNING);
	}

	@Test
	void aTransactionUnderTheLockIsNotLate(CapturedLog log) {
		this.lock.executeWithoutResult(STOCK, (lease) -> this.transaction.executeWithoutResult((status) -> {
		}));
		TransactionTemplate suspending = transactionOf(this.dataSource);
		suspending.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
		this.transaction
			.executeWithoutResult((status) -> suspending.executeWithoutResult((suspended) -> run(this.lock, STOCK)));
		assertThat(log).doesNotContain(WARNING);
		assertThat(this.late).isEmpty();
	}

	@Test
	void theFailureOfAListenerConcernsNoLock() {
		LockRegistry failing = new TransactionAwareLockRegistry("memory", this.registry, OnActiveTransaction.DEFAULT,
				OnPersistenceContext.DEFAULT, (event) -> {
					throw new IllegalStateException("of the listener");
				});
		this.transaction.executeWithoutResult((status) -> run(new LockTemplate(failing), STOCK));
	}

	@Test
	void aRegistryThatReturnsNoLeaseFailsWithASentence() {
		LockRegistry mock = new TransactionAwareLockRegistry("memory", new NoLeases(), OnActiveTransaction.DEFAULT,
				OnPersistenceContext.DEFAULT, this.late::add);
		LockTemplate template = new LockTemplate(mock);
		assertThatIllegalStateException().isThrownBy(() -> run(template, STOCK)).withMessageContaining("A mock has to");
		assertThat(template.executeAsync(STOCK, (lease) -> CompletableFuture.completedFuture("done")))
			.failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withMessageContaining("A mock has to");
	}

	private LockRegistry locks(OnActiveTransaction onActiveTransaction) {
		return new TransactionAwareLockRegistry("memory", this.registry, onActiveTransaction,
				OnPersistenceContext.DEFAULT, this.late::add);
	}

	private static void run(LockTemplate lock, LockRequest request) {
		lock.executeWithoutResult(request, Lease::ensureHeld);
	}

	private static int count(CapturedLog log, String text) {
		return StringUtils.countOccurrencesOf(log.toString(), text);
	}

	private static TransactionTemplate transactionOf(DataSource dataSource) {
		TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
		transaction.setName("sale");
		return transaction;
	}

	/** What a mock without behaviour does. */
	private static final class NoLeases implements LockRegistry {

		@Override
		@SuppressWarnings("NullAway")
		public Lease acquire(LockRequest request) {
			return null;
		}

		@Override
		public Optional<Lease> tryAcquire(LockRequest request) {
			return Optional.empty();
		}

		@Override
		public CompletableFuture<Lease> acquireAsync(LockRequest request) {
			return CompletableFuture.completedFuture(null);
		}

		@Override
		@SuppressWarnings("NullAway")
		public LeaseSet acquireAll(Collection<LockRequest> requests) {
			return null;
		}

		@Override
		public Optional<LeaseSet> tryAcquireAll(Collection<LockRequest> requests) {
			return Optional.empty();
		}

		@Override
		public CompletableFuture<LeaseSet> acquireAllAsync(Collection<LockRequest> requests) {
			return CompletableFuture.completedFuture(null);
		}

	}

}
