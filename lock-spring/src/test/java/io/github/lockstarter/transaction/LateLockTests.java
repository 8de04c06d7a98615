// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.StringUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.TransactionAwareLockRegistry;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.testsupport.CapturedLog;

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

	private static final String CONNECTION = "it keeps a database connection of the pool";

	private static final LockRequest STOCK = LockRequest.of("stock", 1001);

	private final List<LockEvent.Late> late = new CopyOnWriteArrayList<>();

	private final DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore(), EngineSettings.DEFAULTS,
			(event) -> {
				if (event instanceof LockEvent.Late tooLate) {
					this.late.add(tooLate);
				}
			});

	private final DataSource dataSource = new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2)
		.generateUniqueName(true)
		.build();

	private final TransactionTemplate transaction = transactionOf(this.dataSource);

	private final LockTemplate lock = new LockTemplate(this.registry);

	private final DistributedLockAdvisor advisor = new DistributedLockAdvisor(
			new LockDefinitionSource(new DefaultListableBeanFactory()), () -> this.registry);

	private final Sales sales = sales();

	@AfterEach
	void close() {
		this.registry.close();
	}

	@Test
	void aMethodIsWarnedOfOnceAndEachCallIsAnEvent(CapturedLog log) {
		this.transaction.executeWithoutResult((status) -> this.sales.sell(1));
		this.transaction.executeWithoutResult((status) -> this.sales.sell(2));
		assertThat(count(log, WARNING)).isOne();
		assertThat(log).contains("The lock of '" + Sales.class.getName() + ".sell(long)'" + WARNING, "REPEATABLE READ",
				"Acquire the lock before the transaction begins", "OnActiveTransaction.FAIL",
				"Propagation.REQUIRES_NEW on the locked method, and set onActiveTransaction there to say",
				"logged once for each method");
		assertThat(this.late).containsExactly(
				new LockEvent.Late(LockKey.of("sale", 1), LockMode.EXCLUSIVE, "MemoryLockStore",
						"inside the transaction 'sale'", "sale"),
				new LockEvent.Late(LockKey.of("sale", 2), LockMode.EXCLUSIVE, "MemoryLockStore",
						"inside the transaction 'sale'", "sale"));
		this.transaction.executeWithoutResult((status) -> this.sales.cancel(1));
		assertThat(log).contains("The lock of '" + Sales.class.getName() + ".cancel(long)'" + WARNING);
	}

	@Test
	void aNameIsWarnedOfOnceByAllCopiesOfATemplate(CapturedLog log) {
		this.transaction.executeWithoutResult((status) -> {
			run(this.lock, STOCK);
			run(this.lock.withPersistenceContext(OnPersistenceContext.FAIL), LockRequest.of("stock", 2));
			assertThat(count(log, WARNING)).isOne();
			run(this.lock, LockRequest.of("order", 1));
			this.lock.executeWithoutResult(LockSetRequest.of("shelf", List.of(1, 2)), (leases) -> {
			});
		});
		assertThat(log).contains("Lock 'stock'" + WARNING, "Lock 'order'" + WARNING,
				"The set of locks 'shelf'" + WARNING,
				"Propagation.REQUIRES_NEW, and call withOnActiveTransaction of the LockTemplate (a LockRegistry has no"
						+ " such choice) to say",
				"logged once for each lock name");
		assertThat(this.late).hasSize(5);
	}

	@Test
	void aRegistryWarnsToo(CapturedLog log) {
		LockRegistry locks = new TransactionAwareLockRegistry(this.registry, OnActiveTransaction.DEFER);
		this.transaction.executeWithoutResult((status) -> {
			locks.acquire(STOCK).close();
			locks.lock(LockKey.of("order", 1)).lock();
			locks.lock(LockKey.of("order", 1)).unlock();
		});
		assertThat(log).contains("Lock 'stock'" + WARNING, "Lock 'order'" + WARNING);
		assertThat(this.late).extracting(LockEvent.Late::key).containsExactly(STOCK.key(), LockKey.of("order", 1));
	}

	@Test
	void aTransactionWithoutANameIsActiveAllTheSame(CapturedLog log) {
		this.transaction.setName(null);
		this.transaction.executeWithoutResult((status) -> run(this.lock, STOCK));
		assertThat(log).contains("Lock 'stock' is acquired inside a transaction. What");
		assertThat(this.late).containsExactly(
				new LockEvent.Late(STOCK.key(), LockMode.EXCLUSIVE, "MemoryLockStore", "inside a transaction", null));
	}

	@Test
	void anAuthorWhoHasDecidedIsNotWarned(CapturedLog log) {
		this.transaction.executeWithoutResult((status) -> {
			this.sales.expect(1);
			run(this.lock.withOnActiveTransaction(OnActiveTransaction.DEFER), STOCK);
			run(this.lock.withOnActiveTransaction(OnActiveTransaction.RELEASE_ON_RETURN), STOCK);
			assertThatIllegalStateException()
				.isThrownBy(() -> run(this.lock.withDefaults(OnActiveTransaction.FAIL, OnPersistenceContext.WARN),
						LockRequest.of("order")));
		});
		assertThat(log).doesNotContain("What this transaction read");
		assertThat(this.late).isEmpty();
	}

	@Test
	void aReentrantLockIsAsOldAsItsFirstHold(CapturedLog log) {
		this.lock.executeWithoutResult(LockRequest.of("sale", 1),
				(lease) -> this.transaction.executeWithoutResult((status) -> this.sales.sell(1)));
		assertThat(log).doesNotContain(WARNING);
		assertThat(this.late).isEmpty();
		this.lock.executeWithoutResult(LockRequest.of("sale", 1),
				(lease) -> this.transaction.executeWithoutResult((status) -> this.sales.sell(2)));
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
	void aConnectionThatTheTransactionKeepsIsNamed(CapturedLog log) {
		this.transaction.executeWithoutResult((status) -> run(this.lock, STOCK));
		assertThat(log).contains(WARNING, CONNECTION);
	}

	@Test
	void aConnectionThatIsNotFetchedYetIsNotNamed(CapturedLog log) {
		DataSource lazy = new LazyConnectionDataSourceProxy(this.dataSource);
		transactionOf(lazy).executeWithoutResult((status) -> run(this.lock, STOCK));
		assertThat(log).contains(WARNING).doesNotContain(CONNECTION);
		transactionOf(lazy).executeWithoutResult((status) -> {
			JdbcClient.create(lazy).sql("select 1").query().singleValue();
			run(this.lock, LockRequest.of("order"));
		});
		assertThat(log).contains("Lock 'order'" + WARNING, CONNECTION);
	}

	private Sales sales() {
		ProxyFactory proxies = new ProxyFactory(new Sales());
		proxies.addAdvisor(this.advisor);
		return (Sales) proxies.getProxy();
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

	static class Sales {

		@DistributedLock(name = "sale", key = "#id")
		public void sell(long id) {
		}

		@DistributedLock(name = "sale", key = "#id")
		public void cancel(long id) {
		}

		@DistributedLock(name = "sale", key = "#id", onActiveTransaction = OnActiveTransaction.DEFER)
		public void expect(long id) {
		}

	}

}
