// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseContext;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for locks and transactions of a real database that enclose each other.
 */
@ExtendWith(CapturedLog.Extension.class)
class LockTransactionTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	private final LockMemory memory = new LockMemory();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final AtomicReference<Lease> held = new AtomicReference<>();

	private final AtomicReference<Runnable> onReleased = new AtomicReference<>(() -> {
	});

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store,
			new EngineSettings(Duration.ofSeconds(5), Duration.ofSeconds(4), 20, Duration.ofSeconds(1),
					Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofSeconds(1)),
			(event) -> {
				if (event instanceof LockEvent.Released) {
					this.onReleased.get().run();
				}
			});

	private final DefaultLockRegistry others = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, (event) -> {
			});

	private final DataSource dataSource = new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2)
		.generateUniqueName(true)
		.build();

	private final JdbcClient jdbc = JdbcClient.create(this.dataSource);

	private final JdbcTransactionManager manager = new JdbcTransactionManager(this.dataSource);

	private final TransactionTemplate transaction = new TransactionTemplate(this.manager);

	private final LockTemplate lock = new LockTemplate(this.registry);

	LockTransactionTests() {
		this.manager.addListener(new LockCommitGuard());
		this.jdbc.sql("create table orders (id int)").update();
	}

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().until(this.memory::isEmpty);
		assertThatIllegalStateException().isThrownBy(Lease::current);
		LeaseContext.ensureAllHeldAtCommit();
		this.registry.close();
		this.others.close();
	}

	@Test
	void aTransactionInsideOfALostLockIsRolledBack() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.lock.execute(REQUEST, (lease) -> this.transaction.execute((status) -> {
				insertOrder();
				return lose(lease);
			})));
		assertThat(orders()).isZero();
	}

	@Test
	void aTransactionInsideOfAHeldLockIsCommitted() {
		this.lock.execute(REQUEST, (lease) -> this.transaction.execute((status) -> insertOrder()));
		assertThat(orders()).isOne();
	}

	@Test
	void withLogATransactionIsCommittedAlthoughItsLockWasLost() {
		this.lock.withOnLost(OnLost.LOG).execute(REQUEST, (lease) -> this.transaction.execute((status) -> {
			insertOrder();
			return lose(lease);
		}));
		assertThat(orders()).isOne();
	}

	@Test
	void everyLockOfTheThreadIsChecked() {
		LockRequest fixed = LockRequest.of("order", 7).withLeaseTime(Duration.ofMillis(250));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.lock.execute(fixed,
				(outer) -> this.lock.execute(REQUEST, (inner) -> this.transaction.execute((status) -> {
					insertOrder();
					Awaitility.await().until(() -> !outer.isHeld());
					assertThat(inner.isHeld()).isTrue();
					return null;
				}))))
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(fixed.key()));
		assertThat(orders()).isZero();
	}

	@Test
	void aLockAcquiredInsideATransactionIsReleasedAfterItsCommit() {
		this.transaction.execute((status) -> {
			this.lock.execute(REQUEST, (lease) -> insertOrder());
			assertThatIllegalStateException().isThrownBy(Lease::current);
			assertThat(this.others.tryAcquire(REQUEST)).isEmpty();
			return null;
		});
		assertThat(orders()).isOne();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aLockAcquiredInsideATransactionIsRenewedThroughTheCommit() {
		this.transaction.execute((status) -> {
			this.lock.execute(REQUEST, (lease) -> insertOrder());
			int renewals = this.store.renew.calls();
			Awaitility.await().until(() -> this.store.renew.calls() > renewals + 3);
			return null;
		});
		assertThat(orders()).isOne();
	}

	@Test
	void aLockAcquiredInsideATransactionIsReleasedAfterItsRollback() {
		assertThatIllegalStateException().isThrownBy(() -> this.transaction.execute((status) -> {
			this.lock.execute(REQUEST, (lease) -> insertOrder());
			assertThat(this.others.tryAcquire(REQUEST)).isEmpty();
			throw new IllegalStateException("out of order");
		})).withMessage("out of order");
		assertThat(orders()).isZero();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aBodyThatFailsInsideATransactionKeepsTheLockUntilItsEnd() {
		this.transaction.execute((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> this.lock.execute(REQUEST, (lease) -> {
				throw new IllegalStateException("out of order");
			}));
			assertThat(this.others.tryAcquire(REQUEST)).isEmpty();
			return null;
		});
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aTransactionWhoseLockIsLostAfterTheBodyIsRolledBack() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.transaction.execute((status) -> {
			Lease held = this.lock.execute(REQUEST, (lease) -> {
				insertOrder();
				return lease;
			});
			return lose(held);
		}));
		assertThat(orders()).isZero();
	}

	@Test
	void aLockWithHoldAtLeastIsKeptAfterACommitAndNotAfterARollback() {
		ManualTime time = new ManualTime();
		LockMemory memory = new LockMemory(time);
		Duration kept = Duration.ofSeconds(30);
		LockRequest held = REQUEST.withHoldAtLeast(kept);
		try (DefaultLockRegistry here = new DefaultLockRegistry(new MemoryLockStore(memory));
				DefaultLockRegistry there = new DefaultLockRegistry(new MemoryLockStore(memory))) {
			LockTemplate lock = new LockTemplate(here);
			this.transaction.execute((status) -> {
				status.setRollbackOnly();
				return lock.execute(held, (lease) -> insertOrder());
			});
			assertThat(memory.isEmpty()).isTrue();
			this.transaction.execute((status) -> lock.execute(held, (lease) -> insertOrder()));
			assertThat(there.tryAcquire(REQUEST)).isEmpty();
			time.advance(kept);
			assertThat(there.tryAcquire(REQUEST)).hasValueSatisfying(Lease::close);
		}
	}

	@Test
	void anInnerTransactionIsRolledBackWhenALockOfTheOuterOneIsLost() {
		TransactionTemplate inner = new TransactionTemplate(this.manager);
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.transaction.execute((outer) -> {
			Lease held = this.lock.<Lease, Lease, RuntimeException>execute(REQUEST, (lease) -> lease);
			return inner.execute((status) -> {
				insertOrder();
				return lose(held);
			});
		}));
		assertThat(orders()).isZero();
	}

	@Test
	void anInnerTransactionThatIsCompletedDoesNotGiveBackTheLockOfTheOuterOne() {
		TransactionTemplate inner = new TransactionTemplate(this.manager);
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.transaction.execute((outer) -> {
			this.lock.execute(REQUEST, (lease) -> inner.execute((status) -> insertOrder()));
			assertThat(this.others.tryAcquire(REQUEST)).isEmpty();
			return null;
		});
		assertThat(orders()).isOne();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void nestedCallsForTheSameLockShareTheLeaseUntilTheEnd() {
		this.transaction.execute((status) -> {
			this.lock.execute(REQUEST, (lease) -> insertOrder());
			this.lock.execute(REQUEST, (outer) -> this.lock.execute(REQUEST, (inner) -> insertOrder()));
			assertThat(this.others.tryAcquire(REQUEST)).isEmpty();
			return null;
		});
		assertThat(this.store.acquire.calls()).isOne();
		assertThat(this.store.release.calls()).isOne();
		assertThat(orders()).isEqualTo(2);
	}

	@Test
	void aTransactionThatCanOnlyBeRolledBackGivesItsLockBack() {
		assertThatExceptionOfType(UnexpectedRollbackException.class)
			.isThrownBy(() -> this.transaction.execute((outer) -> this.transaction.execute((status) -> {
				this.lock.execute(REQUEST, (lease) -> insertOrder());
				status.setRollbackOnly();
				return null;
			})));
		assertThat(orders()).isZero();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aTransactionThatTimesOutGivesItsLockBack() {
		this.transaction.setTimeout(1);
		assertThatExceptionOfType(TransactionTimedOutException.class)
			.isThrownBy(() -> this.transaction.execute((status) -> {
				this.lock.execute(REQUEST, (lease) -> insertOrder());
				while (true) {
					insertOrder();
				}
			}));
		assertThat(orders()).isZero();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aReadOnlyTransactionGivesItsLockBackAfterItsEnd() {
		this.transaction.setReadOnly(true);
		this.transaction.execute((status) -> {
			this.lock.execute(REQUEST, (lease) -> orders());
			assertThat(this.others.tryAcquire(REQUEST)).isEmpty();
			return null;
		});
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void withoutAnActualTransactionTheLockIsReleasedAtTheReturn() {
		this.transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
		this.transaction.execute((status) -> {
			this.lock.execute(REQUEST, (lease) -> insertOrder());
			assertThat(this.memory.isEmpty()).isTrue();
			return null;
		});
	}

	@Test
	void withFailNothingIsAskedOfTheStoreAndNothingRuns() {
		LockTemplate failing = this.lock.withOnActiveTransaction(OnActiveTransaction.FAIL);
		this.transaction.setName("sale");
		this.transaction.execute((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> failing.execute(REQUEST, (lease) -> insertOrder()))
				.withMessageContaining("'stock:1001' must not be acquired inside the transaction 'sale'")
				.withMessageContaining("OnActiveTransaction.DEFER");
			return null;
		});
		assertThat(this.store.acquire.calls()).isZero();
		assertThat(orders()).isZero();
		failing.execute(REQUEST, (lease) -> this.transaction.execute((status) -> insertOrder()));
		assertThat(orders()).isOne();
	}

	@Test
	void aTransactionWithoutANameIsRefusedToo() {
		LockTemplate failing = this.lock.withOnActiveTransaction(OnActiveTransaction.FAIL);
		this.transaction.executeWithoutResult(
				(status) -> assertThatIllegalStateException().isThrownBy(() -> failing.execute(REQUEST, (lease) -> 1))
					.withMessageContaining("must not be acquired inside a transaction, which may"));
	}

	@Test
	void withReleaseOnReturnTheLockIsReleasedBeforeTheCommitAndThatIsLogged(CapturedLog log) {
		this.transaction.execute((status) -> {
			this.lock.withOnActiveTransaction(OnActiveTransaction.RELEASE_ON_RETURN)
				.execute(REQUEST, (lease) -> insertOrder());
			assertThat(this.memory.isEmpty()).isTrue();
			return null;
		});
		assertThat(log).contains("Lock 'stock:1001' is released before a transaction commits");
	}

	@Test
	void withLogTheLossOfALockThatIsKeptUntilTheCommitIsNotLoggedAgain(CapturedLog log) {
		this.transaction.execute((status) -> this.lock.withOnLost(OnLost.LOG).execute(REQUEST, this::lose));
		Awaitility.await().untilAsserted(() -> assertThat(log).contains("lost"));
		assertThat(log).doesNotContain("while its transaction was completed");
	}

	@Test
	void anAnnotationSaysWhatHappensInsideATransactionOrElseTheAdvisor() {
		DistributedLockAdvisor advisor = new DistributedLockAdvisor(
				new LockDefinitionSource(new DefaultListableBeanFactory()), () -> this.registry);
		ProxyFactory proxies = new ProxyFactory(new Orders());
		proxies.addAdvisor(advisor);
		Orders proxy = (Orders) proxies.getProxy();
		this.transaction.execute((status) -> {
			proxy.prepare(1);
			assertThat(isTaken(1)).isFalse();
			proxy.place(1);
			assertThat(isTaken(1)).isTrue();
			advisor.setOnActiveTransaction(OnActiveTransaction.RELEASE_ON_RETURN);
			proxy.place(2);
			assertThat(isTaken(2)).isFalse();
			return null;
		});
		assertThat(isTaken(1)).isFalse();
	}

	@Test
	void aBodyThatBeginsOnTheThreadOfATransactionKeepsItsLockUntilBothAreDone() {
		CompletableFuture<String> body = new CompletableFuture<>();
		this.transaction.execute((status) -> {
			insertOrder();
			assertThat(begin(this.lock, CompletableFuture.completedFuture("done"))).isCompletedWithValue("done");
			return begin(this.lock.withOnLost(OnLost.INTERRUPT), body, LockRequest.of("order", 7));
		});
		assertThat(this.others.tryAcquire(REQUEST)).isPresent().get().satisfies(Lease::close);
		assertThat(this.others.tryAcquire(LockRequest.of("order", 7).withWaitTime(Duration.ZERO))).isEmpty();
		body.complete("done");
		Awaitility.await().until(this.memory::isEmpty);
		assertThat(orders()).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void aTransactionOnWhoseThreadABodyBeganIsRolledBackIfItsLockIsLost(OnLost onLost) {
		CompletableFuture<String> body = new CompletableFuture<>();
		try {
			this.transaction.execute((status) -> {
				insertOrder();
				CompletableFuture<String> result = begin(this.lock.withOnLost(onLost), body);
				return lose(this.held.get()) && result.isDone();
			});
			assertThat(onLost).isEqualTo(OnLost.LOG);
		}
		catch (LockLostException ex) {
			assertThat(onLost).isNotEqualTo(OnLost.LOG);
		}
		body.complete("done");
		assertThat(orders()).isEqualTo((onLost == OnLost.LOG) ? 1 : 0);
	}

	private CompletableFuture<String> begin(LockTemplate template, CompletableFuture<String> body) {
		return begin(template, body, REQUEST);
	}

	private CompletableFuture<String> begin(LockTemplate template, CompletableFuture<String> body,
			LockRequest request) {
		return template.beginOrElse(request, (lease) -> {
			this.held.set(lease);
			return body;
		}, (contention) -> {
			throw contention;
		}, (outage) -> {
			throw outage;
		});
	}

	@ParameterizedTest
	@EnumSource
	void aListenerThatIsNotifiedOfTheReleaseMayCommitATransaction(OnLost onLost) {
		this.onReleased.set(() -> this.transaction.execute((status) -> insertOrder()));
		LockRequest outer = LockRequest.of("order", 7);
		this.lock.execute(outer, (lease) -> this.lock.withOnLost(onLost).execute(REQUEST, (inner) -> null));
		assertThat(orders()).isEqualTo(2);
	}

	@Test
	void aListenerThatIsNotifiedOfADeferredReleaseMayCommitATransactionOfItsOwn() {
		TransactionTemplate own = new TransactionTemplate(this.manager);
		own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.onReleased.set(() -> own.execute((status) -> insertOrder()));
		this.transaction.execute((status) -> {
			this.lock.execute(REQUEST, (lease) -> null);
			return this.lock.execute(LockRequest.of("order", 7), (lease) -> null);
		});
		assertThat(orders()).isEqualTo(2);
	}

	@Test
	void aListenerThatIsNotifiedOfTheReleaseByAFutureMayCommitATransaction() {
		this.onReleased.set(() -> this.transaction.execute((status) -> insertOrder()));
		CompletableFuture<String> body = new CompletableFuture<>();
		CompletableFuture<String> result = this.lock.executeAsync(REQUEST, (lease) -> body);
		body.complete("done");
		assertThat(result).succeedsWithin(Duration.ofSeconds(20));
		assertThat(this.lock.executeAsync(REQUEST, (lease) -> CompletableFuture.completedFuture("done")))
			.succeedsWithin(Duration.ofSeconds(20));
		assertThat(orders()).isEqualTo(2);
	}

	private boolean isTaken(long id) {
		return this.others.tryAcquire(LockRequest.of("order", id).withWaitTime(Duration.ZERO)).map((lease) -> {
			lease.close();
			return false;
		}).orElse(true);
	}

	private int insertOrder() {
		return this.jdbc.sql("insert into orders values (1)").update();
	}

	private int orders() {
		return this.jdbc.sql("select count(*) from orders").query(Integer.class).single();
	}

	private boolean lose(Lease lease) {
		this.memory.clear();
		Awaitility.await().until(() -> !lease.isHeld());
		return true;
	}

	static class Orders {

		@DistributedLock(name = "order", key = "#id")
		public void place(long id) {
		}

		@DistributedLock(name = "order", key = "#id", onActiveTransaction = OnActiveTransaction.RELEASE_ON_RETURN)
		public void prepare(long id) {
		}

	}

}
