// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.BiConsumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.CapturedLog;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Locks and transactions of a real database that enclose each other, whichever way a lock
 * is acquired.
 */
@ExtendWith(CapturedLog.Extension.class)
class LockTransactionTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY).withWaitTime(Duration.ZERO);

	private static final LockRequest ORDER = LockRequest.of("order", 7).withWaitTime(Duration.ZERO);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static EmbeddedDatabase database;

	private static JdbcClient jdbc;

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final AtomicReference<Runnable> onReleased = new AtomicReference<>(() -> {
	});

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS,
			(event) -> {
				if (event instanceof LockEvent.Released) {
					this.onReleased.get().run();
				}
			}, this.time);

	private final DefaultLockRegistry others = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, LockListener.NO_OP, this.time);

	private final JdbcTransactionManager manager = new JdbcTransactionManager(database);

	private final TransactionTemplate transaction = new TransactionTemplate(this.manager);

	private final TransactionTemplate inner = transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

	private final LockRegistry locks = locks(OnActiveTransaction.DEFER);

	private final LockTemplate lock = new LockTemplate(this.locks);

	@BeforeAll
	static void createTable() {
		database = new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build();
		jdbc = JdbcClient.create(database);
		jdbc.sql("create table orders (id int)").update();
	}

	@AfterAll
	static void shutdown() {
		database.shutdown();
	}

	LockTransactionTests() {
		this.manager.addListener(new LockCommitGuard());
	}

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().until(this.memory::isEmpty);
		assertThatIllegalStateException().isThrownBy(Lease::current);
		LeasesOfThread.ensureAllHeld();
		this.registry.close();
		this.others.close();
		jdbc.sql("delete from orders").update();
	}

	/** Its work under the lock is not committed yet. */
	@ParameterizedTest
	@ValueSource(
			ints = { TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.PROPAGATION_NOT_SUPPORTED })
	void aLockIsHeldUntilTheTransactionThatBeganUnderItEndsThoughItIsSuspendedMeanwhile(int propagation) {
		Lease lease = this.locks.acquire(REQUEST);
		this.transaction.executeWithoutResult((status) -> {
			insertOrder();
			transaction(propagation).executeWithoutResult((suspending) -> lease.close());
			assertThat(isTaken(REQUEST)).isTrue();
		});
		assertThat(isTaken(REQUEST)).isFalse();
	}

	/** The others are held until the set is closed. */
	@ParameterizedTest
	@ValueSource(ints = { TransactionDefinition.PROPAGATION_REQUIRED, TransactionDefinition.PROPAGATION_NOT_SUPPORTED })
	void aLockOfASetThatIsClosedAloneIsHeldUntilTheTransactionEnds(int propagation) {
		LeaseSet leases = this.locks.acquireAll(Way.both());
		this.transaction.executeWithoutResult((status) -> {
			insertOrder();
			transaction(propagation).executeWithoutResult((within) -> leases.get(KEY).close());
			assertThat(leases.isHeld()).isFalse();
			assertThat(isTaken(REQUEST)).isTrue();
		});
		assertThat(isTaken(REQUEST)).isFalse();
		assertThat(isTaken(Way.both().get(1))).isTrue();
		assertThat(orders()).isOne();
		leases.close();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aSetOfWhichOneIsClosedIsForLaterTransactionsItsOthers(boolean deferred) {
		LeaseSet leases = this.locks.acquireAll(Way.both());
		if (deferred) {
			this.transaction.executeWithoutResult((status) -> leases.get(KEY).close());
		}
		else {
			leases.get(KEY).close();
		}
		this.transaction.executeWithoutResult((status) -> insertOrder());
		assertThat(orders()).isOne();
		assertThat(LeasesOfThread.fenced((registry) -> true)).singleElement()
			.satisfies((each) -> assertThat(each.lease().key().key()).isEqualTo("1002"));
		this.transaction.executeWithoutResult((status) -> leases.close());
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void theOthersOfASetOfWhichOneIsClosedAreChecked() {
		LeaseSet leases = this.locks.acquireAll(Way.both());
		leases.get(KEY).close();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				insertOrder();
				lose();
			}));
		assertThat(orders()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(leases::close);
	}

	@Test
	void aSetIsToldOfTheEndOfATransactionOnce() {
		LeaseSet leases = this.locks.acquireAll(Way.both());
		this.transaction.executeWithoutResult(
				(status) -> assertThat(TransactionSynchronizationManager.getSynchronizations()).hasSize(1));
		leases.close();
	}

	@Test
	void aLockIsHeldUntilTheTransactionThatBeganUnderItEndsThoughAnotherThreadClosesIt() {
		Lease lease = this.locks.acquire(REQUEST);
		this.transaction.executeWithoutResult((status) -> {
			insertOrder();
			CompletableFuture.runAsync(lease::close).join();
			assertThat(isTaken(REQUEST)).isTrue();
		});
		assertThat(isTaken(REQUEST)).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void aLockInsideATransactionIsReleasedAfterItsCommit(Way way) {
		this.transaction.executeWithoutResult((status) -> {
			run(way, this::insertOrder);
			assertThatIllegalStateException().isThrownBy(Lease::current);
			assertThat(isTaken(REQUEST)).isTrue();
		});
		assertThat(this.memory.isEmpty()).isTrue();
		assertThat(orders()).isOne();
	}

	@ParameterizedTest
	@EnumSource(names = { "TEMPLATE", "LEASE" })
	void aLockInsideATransactionIsReleasedAfterItsRollback(Way way) {
		assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
			run(way, this::insertOrder);
			assertThat(isTaken(REQUEST)).isTrue();
			throw new IllegalStateException("out of order");
		})).withMessage("out of order");
		assertThat(this.memory.isEmpty()).isTrue();
		assertThat(orders()).isZero();
	}

	@ParameterizedTest
	@EnumSource(names = { "TEMPLATE", "LEASE", "LEASES", "LOCK" })
	void aTransactionWhoseLockIsLostAfterTheBodyIsRolledBack(Way way) {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				run(way, this::insertOrder);
				lose();
			}));
		assertThat(orders()).isZero();
	}

	@ParameterizedTest
	@EnumSource(names = { "TEMPLATE", "LEASE", "LEASES", "LOCK" })
	void aTransactionInsideOfALostLockIsRolledBackAndNoLaterOne(Way way) {
		run(way, () -> this.transaction.execute((status) -> insertOrder()));
		assertThat(orders()).isOne();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> run(way, () -> this.transaction.executeWithoutResult((status) -> {
				insertOrder();
				lose();
			})));
		assertThat(orders()).isOne();
		this.transaction.execute((status) -> insertOrder());
		assertThat(orders()).isEqualTo(2);
	}

	/** Its context is closed, and the thread goes on with that of the next test. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aLeaseThatNobodyClosedMattersToNoTransactionThatBeginsAfterTheEndOfItsRegistry(boolean before) {
		TransactionAwareLockRegistry ended = new TransactionAwareLockRegistry("ended", this.others,
				OnActiveTransaction.DEFER, OnPersistenceContext.DEFAULT, LockListener.NO_OP, this.time::now);
		ended.acquire(REQUEST);
		if (before) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
					end(ended);
					lose();
				}));
		}
		else {
			end(ended);
		}
		this.transaction.execute((status) -> {
			insertOrder();
			return lose();
		});
		assertThat(orders()).isOne();
	}

	private void end(TransactionAwareLockRegistry registry) {
		try (ManualTime.Passing passing = this.time.letPass()) {
			registry.close();
		}
		catch (Exception ex) {
			throw new AssertionError(ex);
		}
	}

	@ParameterizedTest
	@EnumSource
	void withFailNothingIsAskedOfTheStoreAndNothingRuns(Way way) {
		this.transaction.setName("sale");
		this.transaction.executeWithoutResult((status) -> assertThatIllegalStateException()
			.isThrownBy(() -> run(way, OnActiveTransaction.FAIL, this::insertOrder))
			.withMessageContaining("'stock:1001' must not be acquired inside the transaction 'sale'")
			.withMessageContaining("distributed-lock.on-active-transaction=defer"));
		this.transaction.setName(null);
		this.transaction.executeWithoutResult((status) -> assertThatIllegalStateException()
			.isThrownBy(() -> run(way, OnActiveTransaction.FAIL, this::insertOrder))
			.withMessageContaining("must not be acquired inside a transaction, which may"));
		assertThat(this.store.acquire.calls()).isZero();
		assertThat(orders()).isZero();
		run(way, OnActiveTransaction.FAIL, () -> this.transaction.execute((status) -> insertOrder()));
		assertThat(orders()).isOne();
	}

	@ParameterizedTest
	@EnumSource(names = { "TEMPLATE", "LEASE", "LEASES", "LOCK" })
	void withReleaseOnReturnTheLockIsReleasedBeforeTheCommitAndThatIsLogged(Way way, CapturedLog log) {
		this.transaction.executeWithoutResult((status) -> {
			run(way, OnActiveTransaction.RELEASE_ON_RETURN, this::insertOrder);
			assertThat(this.memory.isEmpty()).isTrue();
		});
		assertThat(log).contains("Lock 'stock:1001' is acquired inside a transaction and released before that commits")
			.contains("set distributed-lock.on-active-transaction=defer");
	}

	@ParameterizedTest
	@EnumSource(names = { "TEMPLATE", "LEASE" })
	void withoutAnActualTransactionTheLockIsReleasedAtTheReturn(Way way) {
		transaction(TransactionDefinition.PROPAGATION_SUPPORTS).executeWithoutResult((status) -> {
			run(way, this::insertOrder);
			assertThat(this.memory.isEmpty()).isTrue();
		});
	}

	@Test
	void withLogATransactionIsCommittedAlthoughItsLockWasLost() {
		this.lock.withOnLost(OnLost.LOG).executeWithoutResult(REQUEST, (lease) -> this.transaction.execute((status) -> {
			insertOrder();
			return lose();
		}));
		assertThat(orders()).isOne();
	}

	@Test
	void withLogTheLossOfALockThatIsKeptUntilTheCommitIsNotLoggedAgain(CapturedLog log) {
		this.transaction.execute((status) -> this.lock.withOnLost(OnLost.LOG).execute(REQUEST, (lease) -> lose()));
		Awaitility.await().untilAsserted(() -> assertThat(log).contains("lost"));
		assertThat(log).doesNotContain("Its transaction was not rolled back");
	}

	@Test
	void aLossThatIsFoundOutAfterTheCommitIsOneLineOfTheLog(CapturedLog log) {
		this.transaction.execute((status) -> this.lock.execute(REQUEST, (lease) -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					lose();
				}

			});
			return insertOrder();
		}));
		assertThat(orders()).isOne();
		assertThat(log).contains("Its transaction was not rolled back, because that was not known before")
			.contains("distributed-lock.fencing.transactions=true")
			.doesNotContain("\tat ");
	}

	@Test
	void everyLockOfTheThreadIsChecked() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.lock.execute(ORDER.withLeaseTime(SECOND),
					(outer) -> this.lock.execute(REQUEST, (inner) -> this.transaction.execute((status) -> {
						insertOrder();
						this.time.advance(SECOND);
						assertThat(outer.isHeld()).isFalse();
						assertThat(inner.isHeld()).isTrue();
						return null;
					}))))
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(ORDER.key()));
		assertThat(orders()).isZero();
	}

	@Test
	void aLockInsideATransactionIsRenewedThroughTheCommit() {
		this.transaction.executeWithoutResult((status) -> {
			this.lock.executeWithoutResult(REQUEST, (lease) -> insertOrder());
			this.time.advance(EngineSettings.DEFAULTS.leaseTime().multipliedBy(10));
			assertThat(isTaken(REQUEST)).isTrue();
		});
		assertThat(orders()).isOne();
	}

	@Test
	void aBodyThatFailsInsideATransactionKeepsTheLockUntilItsEnd() {
		this.transaction.executeWithoutResult((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> this.lock.execute(REQUEST, (lease) -> {
				throw new IllegalStateException("out of order");
			}));
			assertThat(isTaken(REQUEST)).isTrue();
		});
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aLockThatIsHeldAtLeastForSomeTimeIsKeptAfterACommitAndNotAfterARollback(boolean byTheLease) {
		Duration hour = Duration.ofHours(1);
		Runnable body = byTheLease ? () -> {
			try (Lease lease = this.locks.acquire(REQUEST)) {
				lease.holdAtLeast(hour);
			}
		} : () -> this.lock.execute(REQUEST.withHoldAtLeast(hour), (lease) -> insertOrder());
		this.transaction.executeWithoutResult((status) -> {
			status.setRollbackOnly();
			body.run();
		});
		assertThat(this.memory.isEmpty()).isTrue();
		this.transaction.executeWithoutResult((status) -> body.run());
		this.time.advance(hour.minusNanos(1));
		assertThat(isTaken(REQUEST)).isTrue();
		this.time.advance(Duration.ofNanos(1));
		assertThat(isTaken(REQUEST)).isFalse();
	}

	@Test
	void anInnerTransactionIsRolledBackWhenALockOfTheOuterOneIsLost() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((outer) -> {
				this.lock.executeWithoutResult(REQUEST, (lease) -> {
				});
				this.inner.executeWithoutResult((status) -> {
					insertOrder();
					lose();
				});
			}));
		assertThat(orders()).isZero();
	}

	@Test
	void aLossIsFoundWhetherTheRegistryIsWrappedOrNot() {
		List<LockTemplate> templates = List.of(this.lock, new LockTemplate(this.registry));
		for (LockTemplate outer : templates) {
			outer.withOnLost(OnLost.LOG).executeWithoutResult(REQUEST.withLeaseTime(SECOND), (lease) -> {
				this.time.advance(SECOND);
				for (LockTemplate inner : templates) {
					assertThatExceptionOfType(LockLostException.class)
						.isThrownBy(() -> inner.execute(REQUEST, Lease::isHeld));
				}
			});
		}
	}

	@Test
	void anInnerTransactionThatIsCompletedDoesNotGiveBackTheLockOfTheOuterOne() {
		this.transaction.executeWithoutResult((outer) -> {
			this.lock.execute(REQUEST, (lease) -> this.inner.execute((status) -> insertOrder()));
			assertThat(isTaken(REQUEST)).isTrue();
			Lease lease = this.locks.acquire(ORDER);
			this.inner.executeWithoutResult((status) -> lease.close());
			assertThat(isTaken(ORDER)).isTrue();
		});
		assertThat(orders()).isOne();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(ints = { TransactionDefinition.PROPAGATION_NESTED, TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
			TransactionDefinition.PROPAGATION_REQUIRES_NEW })
	void aStepInsideATransactionDoesNotForgetThatItsLockIsLost(int propagation) {
		AtomicReference<Lease> lease = new AtomicReference<>();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				lease.set(this.locks.acquire(REQUEST.withLeaseTime(SECOND)));
				insertOrder();
				this.time.advance(SECOND);
				transaction(propagation).executeWithoutResult((step) -> {
					if (propagation == TransactionDefinition.PROPAGATION_NOT_SUPPORTED) {
						this.locks.acquire(ORDER).close();
					}
					step.setRollbackOnly();
				});
			}));
		assertThat(orders()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease.get()::close);
	}

	@Test
	void nestedCallsForTheSameLockShareTheLeaseUntilTheEnd() {
		this.transaction.executeWithoutResult((status) -> {
			this.lock.execute(REQUEST, (lease) -> insertOrder());
			this.lock.execute(REQUEST, (outer) -> this.lock.execute(REQUEST, (inner) -> insertOrder()));
			assertThat(isTaken(REQUEST)).isTrue();
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

	@ParameterizedTest
	@EnumSource(names = { "THROW", "INTERRUPT" })
	void aListenerThatIsNotifiedOfTheReleaseMayCommitATransaction(OnLost onLost) {
		this.onReleased.set(() -> this.transaction.execute((status) -> insertOrder()));
		this.lock.execute(ORDER, (lease) -> this.lock.withOnLost(onLost).execute(REQUEST, (inner) -> null));
		assertThat(orders()).isEqualTo(2);
	}

	@Test
	void aListenerThatIsNotifiedOfADeferredReleaseMayCommitATransactionOfItsOwn() {
		this.onReleased.set(() -> this.inner.execute((status) -> insertOrder()));
		this.transaction.executeWithoutResult((status) -> {
			this.lock.execute(REQUEST, (lease) -> null);
			this.lock.execute(ORDER, (lease) -> null);
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

	@Test
	void aLeaseThatIsAcquiredBeforeATransactionAndClosedInsideItIsReleasedAfterIt() {
		Lease lease = this.locks.acquire(REQUEST);
		Lock order = this.locks.lock(ORDER.key());
		order.lock();
		this.transaction.executeWithoutResult((status) -> {
			lease.close();
			order.unlock();
			assertThat(isTaken(REQUEST)).isTrue();
			assertThat(isTaken(ORDER)).isTrue();
		});
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aLeaseThatIsAcquiredInsideATransactionAndClosedAfterItIsHeldUntilThen() {
		Lock order = this.locks.lock(ORDER.key());
		Lease lease = this.transaction.execute((status) -> {
			order.lock();
			return this.locks.acquire(REQUEST);
		});
		assertThat(isTaken(REQUEST)).isTrue();
		assertThat(isTaken(ORDER)).isTrue();
		lease.close();
		order.unlock();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "LEASES", "LOCK" })
	void noLeaseOfARegistryIsTheCurrentOne(Way way) {
		run(way, () -> assertThatIllegalStateException().isThrownBy(Lease::current));
		this.lock.executeWithoutResult(REQUEST, (lease) -> run(way, () -> assertThat(Lease.current()).isSameAs(lease)));
	}

	@Test
	void aLeaseThatIsClosedInsideATransactionIsOverForItsOwner() {
		this.transaction.executeWithoutResult((status) -> {
			Lease lease = this.locks.acquire(REQUEST);
			assertThat(lease.isHeld()).isTrue();
			assertThat(lease.remaining()).isPositive();
			assertThat(lease.all()).containsExactly(lease);
			lease.ensureHeld();
			lease.close();
			lease.close();
			lease.holdAtLeast(Duration.ofHours(1));
			assertThat(lease.isHeld()).isFalse();
			assertThat(lease.remaining()).isZero();
			assertThatIllegalStateException().isThrownBy(lease::ensureHeld)
				.withMessage(
						"The lease is closed, and released after the transaction: close it later, or acquire the lock again");
			assertThat(lease.toString()).endsWith(", held) until the transaction ends");
		});
	}

	@Test
	void closingALostLeaseInsideATransactionReportsTheLoss() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				Lease lease = this.locks.acquire(REQUEST);
				insertOrder();
				lose();
				lease.close();
			}));
		assertThat(orders()).isZero();
	}

	@Test
	void aLeaseMayBeClosedByAnotherThreadAndAsynchronously() {
		this.transaction.executeWithoutResult((status) -> {
			CompletableFuture.runAsync(this.locks.acquire(REQUEST)::close).join();
			assertThat(isTaken(REQUEST)).isTrue();
			assertThat(this.locks.acquire(REQUEST).closeAsync()).succeedsWithin(Duration.ofSeconds(20));
			assertThat(isTaken(REQUEST)).isTrue();
		});
		assertThat(this.memory.isEmpty()).isTrue();
		CompletableFuture.runAsync(this.locks.acquire(REQUEST)::close).join();
		assertThat(this.memory.isEmpty()).isTrue();
		assertThat(this.locks.acquire(REQUEST).closeAsync()).succeedsWithin(Duration.ofSeconds(20));
		assertThat(this.memory.isEmpty()).isTrue();
		this.transaction.execute((status) -> insertOrder());
		assertThat(orders()).isOne();
	}

	@Test
	void aFixedLeaseThatEndsInsideATransactionRollsItBack() {
		Lease lease = this.locks.acquire(REQUEST.withLeaseTime(SECOND));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				this.time.advance(SECOND);
				this.locks.acquire(ORDER).close();
				this.inner.executeWithoutResult((own) -> own.setRollbackOnly());
				insertOrder();
			}));
		assertThat(orders()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aLimitedLeaseThatHasEndedRollsNoLaterTransactionBack(boolean fixed) {
		Lease lease = this.locks.acquire(fixed ? REQUEST.withLeaseTime(SECOND) : REQUEST.withHoldAtMost(SECOND));
		this.time.advance(SECOND);
		this.transaction.execute((status) -> insertOrder());
		assertThat(orders()).isOne();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
	}

	@Test
	void aFixedLeaseThatIsLostBeforeItsTimeRollsTheNextTransactionBack() {
		Lease lease = this.locks.acquire(REQUEST.withLeaseTime(SECOND.multipliedBy(100)));
		this.memory.clear();
		this.time.advance(SECOND.multipliedBy(60));
		assertThat(lease.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.transaction.execute((status) -> insertOrder()));
		assertThat(orders()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
	}

	@Test
	void aLockIsUnlockedAsOftenAsItWasLocked() {
		Lock lock = this.locks.lock(KEY);
		this.transaction.executeWithoutResult((status) -> {
			lock.lock();
			assertThat(this.locks.lock(KEY).tryLock()).isTrue();
			lock.unlock();
			this.locks.lock(KEY).unlock();
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
			assertThat(isTaken(REQUEST)).isTrue();
		});
		assertThat(this.memory.isEmpty()).isTrue();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
		assertThat(lock).hasToString("Lock 'stock:1001' (EXCLUSIVE)");
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::newCondition);
	}

	@Test
	void anInterruptedThreadMayLockAndKeepsItsInterrupt() {
		Lock lock = this.locks.lock(KEY);
		Thread.currentThread().interrupt();
		lock.lock();
		assertThat(Thread.interrupted()).isTrue();
		lock.unlock();
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(lock::lockInterruptibly);
	}

	@Test
	void aLockThatIsTakenElsewhereIsNotRegistered() {
		Lease taken = this.others.acquire(REQUEST.withMode(LockMode.WRITE));
		ReadWriteLock lock = this.locks.readWriteLock(KEY);
		assertThat(lock.readLock().tryLock()).isFalse();
		assertThat(this.time.letPass(() -> tryLock(lock.writeLock()))).isFalse();
		assertThat(this.locks.tryAcquire(REQUEST)).isEmpty();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock.readLock()::unlock);
		taken.close();
	}

	private static boolean tryLock(Lock lock) {
		try {
			return lock.tryLock(20, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void aTransactionInsideABodyThatReturnsAFutureIsRolledBackIfItsLockIsLost() {
		CompletableFuture<String> result = this.lock.executeAsync(REQUEST, (lease) -> {
			this.transaction.executeWithoutResult((status) -> {
				insertOrder();
				lose();
			});
			return CompletableFuture.completedFuture("done");
		});
		assertThat(result).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(LockLostException.class);
		assertThat(orders()).isZero();
	}

	@Test
	void aFutureLeaseBelongsToNoTransaction() {
		this.transaction.executeWithoutResult((status) -> {
			this.locks.acquireAsync(REQUEST).orTimeout(20, TimeUnit.SECONDS).join().close();
			assertThat(this.memory.isEmpty()).isTrue();
			Lease lease = this.locks.acquireAsync(REQUEST).orTimeout(20, TimeUnit.SECONDS).join();
			this.inner.executeWithoutResult((own) -> lose());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		});
	}

	@Test
	void aSpySeesTheLocksOfBodies() {
		LockRegistry spy = Mockito.spy(this.locks);
		new LockTemplate(spy).executeWithoutResult(REQUEST,
				(lease) -> new LockTemplate(this.locks).executeWithoutResult(REQUEST, Lease::ensureHeld));
		Mockito.verify(spy).acquire(REQUEST);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	private void run(Way way, Runnable body) {
		run(way, OnActiveTransaction.DEFER, body);
	}

	private void run(Way way, OnActiveTransaction policy, Runnable body) {
		LockRegistry locks = locks(policy);
		way.locking.accept(new Locks(new LockTemplate(locks), locks), body);
	}

	private LockRegistry locks(OnActiveTransaction policy) {
		return new TransactionAwareLockRegistry("memory", this.registry, policy, OnPersistenceContext.DEFAULT,
				LockListener.NO_OP, this.time::now);
	}

	private TransactionTemplate transaction(int propagation) {
		return new TransactionTemplate(this.manager, new DefaultTransactionDefinition(propagation));
	}

	private boolean isTaken(long id) {
		return isTaken(LockRequest.of("order", id).withWaitTime(Duration.ZERO));
	}

	private boolean isTaken(LockRequest request) {
		return this.others.tryAcquire(request).map((lease) -> {
			lease.close();
			return false;
		}).orElse(true);
	}

	private int insertOrder() {
		return jdbc.sql("insert into orders values (1)").update();
	}

	private int orders() {
		return jdbc.sql("select count(*) from orders").query(Integer.class).single();
	}

	/** Deletes all locks from the store, and lets their renewal notice it. */
	private boolean lose() {
		this.memory.clear();
		this.time.advance(EngineSettings.DEFAULTS.leaseTime());
		return true;
	}

	/**
	 * What locks are acquired with.
	 *
	 * @param template for bodies
	 * @param registry for leases
	 */
	record Locks(LockTemplate template, LockRegistry registry) {

	}

	/**
	 * The ways to run something under a lock on the current thread.
	 */
	enum Way {

		TEMPLATE((locks, body) -> locks.template().executeWithoutResult(REQUEST, (lease) -> body.run())),

		TEMPLATE_FOR_SEVERAL((locks, body) -> locks.template().executeWithoutResult(both(), (leases) -> body.run())),

		LEASE((locks, body) -> run(locks.registry().acquire(REQUEST), body)),

		TRIED_LEASE((locks, body) -> run(locks.registry().tryAcquire(REQUEST).orElseThrow(), body)),

		LEASES((locks, body) -> run(locks.registry().acquireAll(both()), body)),

		TRIED_LEASES((locks, body) -> run(locks.registry().tryAcquireAll(both()).orElseThrow(), body)),

		LOCK((locks, body) -> run(locks.registry().lock(KEY), body)),

		WRITE_LOCK((locks, body) -> run(locks.registry().readWriteLock(KEY).writeLock(), body)),

		READ_LOCK((locks, body) -> run(locks.registry().readWriteLock(KEY).readLock(), body));

		private final BiConsumer<Locks, Runnable> locking;

		Way(BiConsumer<Locks, Runnable> locking) {
			this.locking = locking;
		}

		private static List<LockRequest> both() {
			return List.of(REQUEST, LockRequest.of("stock", 1002).withWaitTime(Duration.ZERO));
		}

		private static void run(LeaseSet leases, Runnable body) {
			try (leases) {
				body.run();
			}
		}

		private static void run(Lock lock, Runnable body) {
			lock.lock();
			try {
				body.run();
			}
			finally {
				lock.unlock();
			}
		}

	}

}
