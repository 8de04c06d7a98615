// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Function;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for real transactions with locks that a bean acquires from its
 * {@link LockRegistry}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockRegistryTransactionTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private final LockMemory memory = new LockMemory();

	private final DefaultLockRegistry others = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, LockListener.NO_OP);

	private final EmbeddedDatabase database = new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2)
		.generateUniqueName(true)
		.build();

	private final JdbcClient jdbc = JdbcClient.create(this.database);

	private final AtomicInteger losses = new AtomicInteger();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withBean(LockStore.class, () -> new MemoryLockStore(this.memory))
		.withBean(LockListener.class, () -> this::countLoss)
		.withBean(JdbcTransactionManager.class, () -> new JdbcTransactionManager(this.database))
		.withPropertyValues("distributed-lock.lease-time=4s", "distributed-lock.watchdog.renewals-per-lease=20");

	LockRegistryTransactionTests() {
		this.jdbc.sql("create table orders (id int)").update();
	}

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().until(this.memory::isEmpty);
		this.others.close();
		this.database.shutdown();
	}

	/** Ways to acquire and release a lock on the current thread. */
	static List<Function<LockRegistry, AutoCloseable>> acquisitions() {
		return List.of((registry) -> registry.acquire(REQUEST),
				(registry) -> registry.tryAcquire(REQUEST).orElseThrow(),
				(registry) -> registry.acquireAll(LockSetRequest.of(REQUEST, LockRequest.of("stock", 1002))),
				(registry) -> registry.tryAcquireAll(LockSetRequest.of(REQUEST)).orElseThrow(),
				(registry) -> locked(registry.lock(KEY)), (registry) -> locked(registry.readWriteLock(KEY).writeLock()),
				(registry) -> locked(registry.readWriteLock(KEY).readLock()));
	}

	private static AutoCloseable locked(Lock lock) {
		lock.lock();
		return lock::unlock;
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void aLockAcquiredInsideATransactionIsReleasedAfterItsCommit(Function<LockRegistry, AutoCloseable> acquisition) {
		run((registry, transaction) -> {
			transaction.execute((status) -> {
				close(acquisition.apply(registry));
				assertThat(isTaken()).isTrue();
				return insertOrder();
			});
			assertThat(this.memory.isEmpty()).isTrue();
			assertThat(orders()).isOne();
		});
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void aLockAcquiredInsideATransactionIsReleasedAfterItsRollback(Function<LockRegistry, AutoCloseable> acquisition) {
		run((registry, transaction) -> {
			transaction.execute((status) -> {
				close(acquisition.apply(registry));
				assertThat(isTaken()).isTrue();
				status.setRollbackOnly();
				return insertOrder();
			});
			assertThat(this.memory.isEmpty()).isTrue();
		});
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void aTransactionWhoseLockIsLostAfterItWasClosedIsRolledBack(Function<LockRegistry, AutoCloseable> acquisition) {
		run((registry, transaction) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> transaction.execute((status) -> {
				close(acquisition.apply(registry));
				insertOrder();
				return lose();
			}));
			assertThat(orders()).isZero();
		});
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void aTransactionInsideALostLockIsRolledBack(Function<LockRegistry, AutoCloseable> acquisition) {
		run((registry, transaction) -> {
			AutoCloseable held = acquisition.apply(registry);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> transaction.execute((status) -> {
				insertOrder();
				return lose();
			}));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
			assertThat(orders()).isZero();
			transaction.execute((status) -> insertOrder());
			assertThat(orders()).isOne();
		});
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void aLockAcquiredBeforeATransactionAndClosedInsideItIsReleasedAfterIt(
			Function<LockRegistry, AutoCloseable> acquisition) {
		run((registry, transaction) -> {
			AutoCloseable held = acquisition.apply(registry);
			transaction.execute((status) -> {
				close(held);
				assertThat(isTaken()).isTrue();
				return null;
			});
			assertThat(this.memory.isEmpty()).isTrue();
		});
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void aLockAcquiredInsideATransactionAndClosedAfterItIsHeldUntilThen(
			Function<LockRegistry, AutoCloseable> acquisition) {
		run((registry, transaction) -> {
			AutoCloseable held = transaction.execute((status) -> acquisition.apply(registry));
			assertThat(isTaken()).isTrue();
			close(held);
			assertThat(this.memory.isEmpty()).isTrue();
		});
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void withoutATransactionALockIsReleasedAtOnce(Function<LockRegistry, AutoCloseable> acquisition) {
		run((registry, transaction) -> {
			close(acquisition.apply(registry));
			assertThat(this.memory.isEmpty()).isTrue();
		});
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void withFailALockIsRefusedInsideATransaction(Function<LockRegistry, AutoCloseable> acquisition) {
		run("fail", (registry, transaction) -> {
			transaction.execute((status) -> {
				assertThatIllegalStateException().isThrownBy(() -> acquisition.apply(registry))
					.withMessageContaining("must not be acquired inside a transaction");
				assertThat(this.memory.isEmpty()).isTrue();
				return null;
			});
			close(acquisition.apply(registry));
		});
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void withReleaseOnReturnALockIsReleasedAtOnceAndThatIsLogged(Function<LockRegistry, AutoCloseable> acquisition,
			CapturedOutput output) {
		run("release-on-return", (registry, transaction) -> transaction.execute((status) -> {
			close(acquisition.apply(registry));
			assertThat(this.memory.isEmpty()).isTrue();
			assertThat(output).contains("Lock 'stock:1001' is released before a transaction");
			return null;
		}));
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void noAcquisitionIsTheCurrentLease(Function<LockRegistry, AutoCloseable> acquisition) {
		run((registry, transaction) -> {
			AutoCloseable held = acquisition.apply(registry);
			assertThatIllegalStateException().isThrownBy(Lease::current);
			close(held);
			new LockTemplate(registry).execute(REQUEST, (lease) -> {
				AutoCloseable inner = acquisition.apply(registry);
				assertThat(Lease.current()).isSameAs(lease);
				close(inner);
				return null;
			});
		});
	}

	@Test
	void anInnerTransactionThatIsCompletedDoesNotGiveBackTheLockOfTheOuterOne() {
		run((registry, transaction) -> {
			TransactionTemplate inner = requiringNew(transaction);
			transaction.execute((status) -> {
				Lease lease = registry.acquire(REQUEST);
				inner.executeWithoutResult((own) -> lease.close());
				assertThat(isTaken()).isTrue();
				return null;
			});
		});
	}

	@Test
	void aLeaseThatIsClosedInsideATransactionIsOverForItsOwner() {
		run((registry, transaction) -> transaction.execute((status) -> {
			Lease lease = registry.acquire(REQUEST);
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
				.withMessage("The lease is closed, and released after the transaction");
			assertThat(lease.toString()).endsWith(", held) until the transaction ends");
			return null;
		}));
	}

	@Test
	void closingALostLeaseInsideATransactionReportsTheLoss() {
		run((registry, transaction) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> transaction.execute((status) -> {
				Lease lease = registry.acquire(REQUEST);
				insertOrder();
				lose();
				Awaitility.await().until(() -> !lease.isHeld());
				lease.close();
				return null;
			}));
			assertThat(orders()).isZero();
		});
	}

	@Test
	void aLeaseMayBeClosedByAnotherThreadAndAsynchronously() {
		run((registry, transaction) -> {
			transaction.execute((status) -> {
				CompletableFuture.runAsync(registry.acquire(REQUEST)::close).join();
				assertThat(isTaken()).isTrue();
				assertThat(registry.acquire(REQUEST).closeAsync()).succeedsWithin(Duration.ofSeconds(20));
				assertThat(isTaken()).isTrue();
				return null;
			});
			assertThat(this.memory.isEmpty()).isTrue();
			CompletableFuture.runAsync(registry.acquire(REQUEST)::close).join();
			assertThat(this.memory.isEmpty()).isTrue();
			assertThat(registry.acquire(REQUEST).closeAsync()).succeedsWithin(Duration.ofSeconds(20));
			assertThat(this.memory.isEmpty()).isTrue();
			transaction.execute((status) -> insertOrder());
			assertThat(orders()).isOne();
		});
	}

	@Test
	void aFixedLeaseThatEndsInsideATransactionRollsItBackAndNoLaterOne() {
		run((registry, transaction) -> {
			Lease lease = endInside(registry, transaction, Duration.ofMillis(100));
			assertThat(orders()).isZero();
			transaction.execute((status) -> insertOrder());
			assertThat(orders()).isOne();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		});
	}

	/**
	 * Lets a fixed lease end inside a transaction. On a busy machine it may end before
	 * the transaction begins, so a longer one is needed.
	 */
	private Lease endInside(LockRegistry registry, TransactionTemplate transaction, Duration leaseTime) {
		Lease lease = registry.acquire(REQUEST.withLeaseTime(leaseTime));
		AtomicBoolean heldInside = new AtomicBoolean();
		Throwable failure = catchThrowable(() -> transaction.executeWithoutResult((status) -> {
			heldInside.set(lease.isHeld());
			if (!heldInside.get()) {
				return;
			}
			Awaitility.await().until(() -> !lease.isHeld());
			registry.acquire(LockRequest.of("order", 7)).close();
			requiringNew(transaction).executeWithoutResult((own) -> {
				own.setRollbackOnly();
			});
			insertOrder();
		}));
		if (!heldInside.get()) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
			return endInside(registry, transaction, leaseTime.multipliedBy(2));
		}
		assertThat(failure).isInstanceOf(LockLostException.class);
		return lease;
	}

	@ParameterizedTest
	@ValueSource(ints = { TransactionDefinition.PROPAGATION_NESTED, TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
			TransactionDefinition.PROPAGATION_REQUIRES_NEW })
	void aStepInsideATransactionDoesNotForgetThatItsLockIsLost(int propagation) {
		run((registry, transaction) -> {
			TransactionTemplate step = new TransactionTemplate(
					Objects.requireNonNull(transaction.getTransactionManager()),
					new DefaultTransactionDefinition(propagation));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> transaction.execute((status) -> {
				Lease lease = registry.acquire(REQUEST.withLeaseTime(Duration.ofMillis(100)));
				insertOrder();
				Awaitility.await().until(() -> !lease.isHeld());
				step.executeWithoutResult((inner) -> {
					if (propagation == TransactionDefinition.PROPAGATION_NOT_SUPPORTED) {
						registry.acquire(LockRequest.of("order", 7)).close();
					}
					inner.setRollbackOnly();
				});
				return null;
			}));
			assertThat(orders()).isZero();
		});
	}

	@Test
	void aLockThatShouldBeKeptIsFreeAfterARollback() {
		run((registry, transaction) -> transaction.execute((status) -> {
			try (Lease lease = registry.acquire(REQUEST)) {
				lease.holdAtLeast(Duration.ofHours(1));
			}
			status.setRollbackOnly();
			return null;
		}));
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aLockIsUnlockedAsOftenAsItWasLocked() {
		run((registry, transaction) -> {
			Lock lock = registry.lock(KEY);
			transaction.execute((status) -> {
				lock.lock();
				assertThat(registry.lock(KEY).tryLock()).isTrue();
				lock.unlock();
				registry.lock(KEY).unlock();
				assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
				assertThat(isTaken()).isTrue();
				return null;
			});
			assertThat(this.memory.isEmpty()).isTrue();
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
			assertThat(lock).hasToString("Lock 'stock:1001' (EXCLUSIVE)");
			assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::newCondition);
		});
	}

	@Test
	void anInterruptedThreadMayLockAndKeepsItsInterrupt() {
		run((registry, transaction) -> {
			Lock lock = registry.lock(KEY);
			Thread.currentThread().interrupt();
			lock.lock();
			assertThat(Thread.interrupted()).isTrue();
			lock.unlock();
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(lock::lockInterruptibly);
		});
	}

	@Test
	void aLockThatIsTakenElsewhereIsNotRegistered() {
		run((registry, transaction) -> {
			Lease held = this.others.acquire(REQUEST.withMode(LockMode.WRITE));
			ReadWriteLock lock = registry.readWriteLock(KEY);
			assertThat(lock.readLock().tryLock()).isFalse();
			assertThat(lock.writeLock().tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
			assertThat(registry.tryAcquire(REQUEST.withWaitTime(Duration.ZERO))).isEmpty();
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock.readLock()::unlock);
			held.close();
		});
	}

	@Test
	void aFutureLeaseBelongsToNoTransaction() {
		run((registry, transaction) -> transaction.execute((status) -> {
			registry.acquireAsync(REQUEST).orTimeout(20, TimeUnit.SECONDS).join().close();
			assertThat(this.memory.isEmpty()).isTrue();
			Lease held = registry.acquireAsync(REQUEST).orTimeout(20, TimeUnit.SECONDS).join();
			requiringNew(transaction).executeWithoutResult((own) -> lose());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
			return null;
		}));
	}

	@Test
	void aTemplateKeepsItsOwnPolicy() {
		run("fail", (registry, transaction) -> transaction.execute((status) -> {
			new LockTemplate(registry).withOnActiveTransaction(OnActiveTransaction.RELEASE_ON_RETURN)
				.execute(REQUEST, (lease) -> insertOrder());
			assertThat(this.memory.isEmpty()).isTrue();
			new LockTemplate(registry).execute(REQUEST, (lease) -> insertOrder());
			assertThat(isTaken()).isTrue();
			return null;
		}));
	}

	@Test
	void beansGetTheRegistryByBothItsTypes() {
		this.runner.run((context) -> {
			DefaultLockRegistry engine = context.getBean(DefaultLockRegistry.class);
			assertThat(context.getBean(LockRegistry.class)).isNotSameAs(engine);
			assertThat(context.getBeanProvider(LockRegistry.class).getIfUnique()).isNotNull();
		});
	}

	@Test
	void aRegistryOfTheApplicationIsLeftAsItIs() {
		this.runner
			.withBean("own", DefaultLockRegistry.class,
					() -> new DefaultLockRegistry(new MemoryLockStore(this.memory), EngineSettings.DEFAULTS,
							LockListener.NO_OP))
			.run((context) -> assertThat(context.getBean(LockRegistry.class)).isSameAs(context.getBean("own")));
	}

	@Test
	void withoutTransactionsThereIsOneRegistry() {
		this.runner.withClassLoader(new FilteredClassLoader(ConfigurableTransactionManager.class))
			.run((context) -> assertThat(context).hasSingleBean(LockRegistry.class));
	}

	private void run(RegistryTest test) {
		run("defer", test);
	}

	private void run(String policy, RegistryTest test) {
		this.runner.withPropertyValues("distributed-lock.on-active-transaction=" + policy).run((context) -> {
			assertThat(context).hasNotFailed();
			test.run(context.getBean(LockRegistry.class),
					new TransactionTemplate(context.getBean(JdbcTransactionManager.class)));
			assertThat(this.memory.isEmpty()).isTrue();
		});
	}

	private static TransactionTemplate requiringNew(TransactionTemplate transaction) {
		PlatformTransactionManager manager = Objects.requireNonNull(transaction.getTransactionManager());
		TransactionTemplate inner = new TransactionTemplate(manager);
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		return inner;
	}

	private static void close(AutoCloseable held) {
		try {
			held.close();
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private boolean isTaken() {
		return CompletableFuture
			.supplyAsync(() -> this.others.tryAcquire(REQUEST.withWaitTime(Duration.ZERO)).map((lease) -> {
				lease.close();
				return false;
			}).orElse(true))
			.join();
	}

	private int insertOrder() {
		return this.jdbc.sql("insert into orders values (1)").update();
	}

	private int orders() {
		return this.jdbc.sql("select count(*) from orders").query(Integer.class).single();
	}

	/** Deletes all locks from the store, and waits until their renewal has noticed. */
	private boolean lose() {
		int before = this.losses.get();
		this.memory.clear();
		Awaitility.await().until(() -> this.losses.get() > before);
		return true;
	}

	private void countLoss(LockEvent event) {
		if (event instanceof LockEvent.Lost) {
			this.losses.incrementAndGet();
		}
	}

	private interface RegistryTest {

		void run(LockRegistry registry, TransactionTemplate transaction) throws Exception;

	}

}
