// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionAwareLockRegistry;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.fencing.FenceSchema;
import io.github.lockstarter.fencing.FenceTable;
import io.github.lockstarter.fencing.TransactionFence;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.transaction.LockCommitGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Transactions within transactions, after transactions and beside transactions: none
 * evades its claim, and none waits for itself.
 */
class FencedTransactionHazardTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String PERMANENT_CLAIM = "update distributed_lock_fence set token = ? where lock_key like ?";

	private final AtomicLong jump = new AtomicLong();

	private final LockMemory memory = new LockMemory(() -> System.nanoTime() + this.jump.get());

	private final DefaultLockRegistry firstRegistry = registry();

	private final DefaultLockRegistry secondRegistry = registry();

	private final LockTemplate first = new LockTemplate(this.firstRegistry);

	private final LockTemplate second = new LockTemplate(this.secondRegistry);

	private final LockRequest request = LockRequest.of("stock", UUID.randomUUID());

	private HikariDataSource pool;

	private FenceTable table;

	private TransactionTemplate transaction;

	private JdbcClient jdbc;

	private DefaultLockRegistry registry() {
		return new DefaultLockRegistry(new MemoryLockStore(this.memory), EngineSettings.DEFAULTS, LockListener.NO_OP);
	}

	@AfterEach
	void close() {
		this.firstRegistry.close();
		this.secondRegistry.close();
		this.pool.close();
	}

	private void use(TestDatabase database) throws Exception {
		this.pool = database.pool(8);
		String location = FenceSchema.LOCATION.replace("@@platform@@", FenceSchema.platform(this.pool));
		DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(location)),
				this.pool);
		this.table = new FenceTable(this.pool);
		this.jdbc = JdbcClient.create(this.pool);
		this.jdbc.sql("create table if not exists ledger (item varchar(80), amount int)").update();
		this.transaction = new TransactionTemplate(manager());
	}

	private JdbcTransactionManager manager() {
		JdbcTransactionManager manager = new JdbcTransactionManager(this.pool);
		manager.addListener(new LockCommitGuard());
		manager.addListener(new TransactionFence(manager, this.table));
		return manager;
	}

	private TransactionTemplate with(int propagation) {
		TransactionTemplate template = new TransactionTemplate(this.transaction.getTransactionManager());
		template.setPropagationBehavior(propagation);
		return template;
	}

	private int write() {
		return this.jdbc.sql("insert into ledger values (?, 1)").param(item()).update();
	}

	private int writeAnew() {
		return with(TransactionDefinition.PROPAGATION_REQUIRES_NEW).execute((status) -> write());
	}

	private String item() {
		return this.request.key().text();
	}

	private int written() {
		return this.jdbc.sql("select count(*) from ledger where item = ?").param(item()).query(Integer.class).single();
	}

	private List<Long> claims() {
		return this.jdbc.sql("select token from distributed_lock_fence where lock_key like ?")
			.param("%" + item())
			.query(Long.class)
			.list();
	}

	private void leasesExpire() {
		this.jump.addAndGet(TimeUnit.MINUTES.toNanos(1));
	}

	/** Run what another owner does after the leases have expired. */
	private void overtake() {
		leasesExpire();
		inTime(() -> this.second.execute(this.request, (lease) -> this.transaction.execute((status) -> write())));
	}

	/** A thread that waits for itself fails the test, and not the build. */
	private static <T> T inTime(Supplier<T> call) {
		try {
			return CompletableFuture.supplyAsync(call, (task) -> new Thread(task).start())
				.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
				.join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
		}
	}

	/** An event listener for the phase after the commit does this. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionAfterTheCommitClaimsAnew(TestDatabase database) throws Exception {
		use(database);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(
				() -> inTime(() -> this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> {
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCommit() {
							overtake();
							writeAnew();
						}

					});
					return write();
				}))))
			.withMessageContaining("a later owner has claimed");
		assertThat(written()).isEqualTo(2);
	}

	/** The connection of the transaction that has ended is still bound then. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLockAcquiredAfterTheCommitDoesNotWaitForItself(TestDatabase database) throws Exception {
		use(database);
		inTime(() -> this.transaction.execute((status) -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					FencedTransactionHazardTests.this.first.execute(FencedTransactionHazardTests.this.request,
							(lease) -> writeAnew());
				}

			});
			return write();
		}));
		assertThat(written()).isEqualTo(2);
		assertThat(claims()).hasSize(1);
	}

	/**
	 * The flush of JPA is part of the commit, and its listeners may begin transactions.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionDuringTheCommitDoesNotWaitForIt(TestDatabase database) throws Exception {
		use(database);
		JdbcTransactionManager flushing = new JdbcTransactionManager(this.pool) {

			@Override
			protected void doCommit(DefaultTransactionStatus status) {
				writeAnew();
				super.doCommit(status);
			}

		};
		flushing.addListener(new LockCommitGuard());
		flushing.addListener(new TransactionFence(flushing, this.table));
		inTime(() -> this.first.execute(this.request,
				(lease) -> new TransactionTemplate(flushing).execute((status) -> write())));
		assertThat(written()).isEqualTo(2);
	}

	/** The row of the claim exists, but the snapshot is older. */
	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "H2", "POSTGRESQL" })
	void aClaimThatCannotBeSeenEndsTheTransaction(TestDatabase database) throws Exception {
		use(database);
		this.transaction.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		assertThatExceptionOfType(CannotAcquireLockException.class)
			.isThrownBy(() -> inTime(() -> this.transaction.execute((status) -> {
				written();
				claims();
				inTime(() -> this.second.execute(this.request, (lease) -> writeAnew()));
				return this.first.execute(this.request, (lease) -> write());
			})));
		assertThat(written()).isOne();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void soDoesOneAfterARollback(TestDatabase database) throws Exception {
		use(database);
		List<Throwable> refused = new ArrayList<>();
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> inTime(() -> this.first.withOnLost(OnLost.LOG)
				.withTransactionFencing(TransactionFencing.ON)
				.execute(this.request, (lease) -> this.transaction.execute((status) -> {
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void beforeCommit(boolean readOnly) {
							throw new IllegalStateException("rolled back");
						}

						@Override
						public void afterCompletion(int outcome) {
							overtake();
							try {
								writeAnew();
							}
							catch (LockLostException ex) {
								refused.add(ex);
							}
						}

					});
					return write();
				}))));
		assertThat(refused).hasSize(1);
		assertThat(written()).isOne();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionOfAnotherManagerDoesNotWaitForItsOuterOne(TestDatabase database) throws Exception {
		use(database);
		TransactionTemplate other = new TransactionTemplate(manager());
		other.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		inTime(() -> this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> {
			other.executeWithoutResult((begun) -> write());
			return write();
		})));
		assertThat(written()).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aClaimThatWasLostWithItsSavepointIsRepeated(TestDatabase database) throws Exception {
		use(database);
		inTime(() -> this.transaction.execute((status) -> {
			with(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
				this.first.execute(this.request, (lease) -> write());
				nested.setRollbackOnly();
			});
			assertThat(claims()).isEmpty();
			return write();
		}));
		assertThat(claims()).hasSize(1);
		assertThat(written()).isOne();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aClaimBeforeTheSavepointIsNot(TestDatabase database) throws Exception {
		use(database);
		inTime(() -> this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> {
			with(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
				write();
				nested.setRollbackOnly();
			});
			return writeAnew();
		})));
		assertThat(written()).isOne();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLockThatWasAcquiredWhileTheTransactionWasSuspendedIsClaimedAtTheCommit(TestDatabase database)
			throws Exception {
		use(database);
		LockRegistry registry = new TransactionAwareLockRegistry(this.firstRegistry, OnActiveTransaction.DEFER);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> inTime(() -> this.transaction.execute((status) -> {
				Lease lease = with(TransactionDefinition.PROPAGATION_NOT_SUPPORTED)
					.execute((suspended) -> registry.acquire(this.request));
				overtake();
				write();
				lease.close();
				return null;
			})))
			.withMessageContaining("a later owner has claimed");
		assertThat(written()).isOne();
	}

	/** The outer transaction would keep the row of its claim, though the lock is free. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLockThatIsReleasedInsideATransactionIsNotClaimedByIt(TestDatabase database) throws Exception {
		use(database);
		LockTemplate releasing = this.first.withOnActiveTransaction(OnActiveTransaction.RELEASE_ON_RETURN);
		inTime(() -> this.transaction.execute((status) -> {
			releasing.execute(this.request, (lease) -> writeAnew());
			return inTime(() -> this.second.execute(this.request, (lease) -> writeAnew()));
		}));
		assertThat(written()).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void norIsOneWhoseBodyReturnsAFuture(TestDatabase database) throws Exception {
		use(database);
		LockTemplate releasing = this.first.withOnActiveTransaction(OnActiveTransaction.RELEASE_ON_RETURN);
		inTime(() -> this.transaction.execute((status) -> {
			releasing
				.beginOrElse(this.request, (lease) -> CompletableFuture.completedFuture(writeAnew()),
						(contention) -> CompletableFuture.failedFuture(contention),
						(outage) -> CompletableFuture.failedFuture(outage))
				.join();
			return inTime(() -> this.second.execute(this.request, (lease) -> writeAnew()));
		}));
		assertThat(written()).isEqualTo(2);
	}

	private LockTemplate lateReader() {
		return this.first.withOnLost(OnLost.LOG).withTransactionFencing(TransactionFencing.ON);
	}

	/** To have been a reader is not enough for a writer. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aReaderThatBecomesAWriterClaims(TestDatabase database) throws Exception {
		use(database);
		long token = inTime(() -> lateReader().execute(this.request.withMode(LockMode.READ),
				(late) -> this.transaction.execute((status) -> {
					leasesExpire();
					return this.second.execute(this.request.withMode(LockMode.WRITE), Lease::fencingToken);
				})));
		assertThat(claims()).containsExactly(token);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void anInnerWriterDoesNotWaitForItsOuterReader(TestDatabase database) throws Exception {
		use(database);
		assertThatExceptionOfType(CannotAcquireLockException.class).isThrownBy(() -> inTime(() -> lateReader()
			.execute(this.request.withMode(LockMode.READ), (late) -> this.transaction.execute((status) -> {
				leasesExpire();
				return with(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
					.execute((inner) -> this.second.execute(this.request.withMode(LockMode.WRITE), (lease) -> write()));
			})))).withMessageContaining("the outer transaction");
		assertThat(written()).isZero();
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionWithoutSynchronizationClaims(TestDatabase database) throws Exception {
		use(database);
		JdbcTransactionManager manager = manager();
		manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		TransactionTemplate silent = new TransactionTemplate(manager);
		this.first.execute(this.request, (lease) -> silent.execute((status) -> write()));
		assertThat(claims()).hasSize(1);
		this.jdbc.sql(PERMANENT_CLAIM).param(Long.MAX_VALUE).param("%" + item()).update();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.first.execute(this.request, (lease) -> silent.execute((status) -> write())));
		assertThat(written()).isOne();
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
	}

	/** The leases are over, so each owner gets the lock of the other one. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void ownersThatClaimInDifferentOrdersAreSeparatedByTheDatabase(TestDatabase database) throws Exception {
		use(database);
		LockRequest other = LockRequest.of("other", this.request.key().key());
		CyclicBarrier bothHaveClaimed = new CyclicBarrier(2, this::leasesExpire);
		List<CompletableFuture<Integer>> owners = Stream
			.of(owner(this.first, this.request, other, bothHaveClaimed),
					owner(this.second, other, this.request, bothHaveClaimed))
			.map((owner) -> CompletableFuture.supplyAsync(owner, (task) -> new Thread(task).start())
				.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS))
			.toList();
		Awaitility.await().atMost(PATIENCE).until(() -> owners.stream().allMatch(CompletableFuture::isDone));
		List<Throwable> failures = owners.stream()
			.filter(CompletableFuture::isCompletedExceptionally)
			.map((owner) -> owner.handle((done, failure) -> failure).join())
			.map((failure) -> (failure instanceof CompletionException) ? failure.getCause() : failure)
			.toList();
		assertThat(failures).isNotEmpty().anySatisfy((ex) -> assertThat(ex).isInstanceOf(DataAccessException.class));
		assertThat(written()).isEqualTo(2 - failures.size());
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
	}

	private Supplier<Integer> owner(LockTemplate instance, LockRequest outer, LockRequest inner,
			CyclicBarrier bothHaveClaimed) {
		LockTemplate template = instance.withOnLost(OnLost.LOG).withTransactionFencing(TransactionFencing.ON);
		return () -> template.execute(outer, (lease) -> this.transaction.execute((status) -> {
			await(bothHaveClaimed);
			return template.execute(inner, (nested) -> write());
		}));
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The other owner is paused inside of its transaction. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aClaimWaitsNoLongerThanItsTransactionMay(TestDatabase database) throws Exception {
		use(database);
		TransactionTemplate impatient = new TransactionTemplate(this.transaction.getTransactionManager());
		impatient.setTimeout(1);
		this.first.withOnLost(OnLost.LOG)
			.withTransactionFencing(TransactionFencing.ON)
			.execute(this.request, (lease) -> this.transaction.execute((status) -> {
				leasesExpire();
				assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> inTime(
						() -> this.second.execute(this.request, (later) -> impatient.execute((begun) -> write()))));
				assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isOne();
				return write();
			}));
		assertThat(written()).isOne();
	}

	/** So it ends as well if the transactions have no time-out. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, &options=-c%20lock_timeout=1000", "MARIADB, &sessionVariables=innodb_lock_wait_timeout=1",
			"H2, ;LOCK_TIMEOUT=1000" })
	void norThanItsDatabaseAllows(TestDatabase database, String timeout) throws Exception {
		use(database);
		LockTemplate uncomplaining = this.first.withOnLost(OnLost.LOG).withTransactionFencing(TransactionFencing.ON);
		try (HikariDataSource impatient = TestDatabase.pool(database.url() + timeout, 1)) {
			JdbcTransactionManager manager = new JdbcTransactionManager(impatient);
			manager.addListener(new TransactionFence(manager, new FenceTable(impatient)));
			TransactionTemplate late = new TransactionTemplate(manager);
			uncomplaining.execute(this.request, (lease) -> this.transaction.execute((status) -> {
				leasesExpire();
				for (int i = 0; i < 2; i++) {
					assertThatExceptionOfType(CannotAcquireLockException.class).isThrownBy(() -> inTime(
							() -> this.second.execute(this.request, (later) -> late.execute((begun) -> write()))));
				}
				return write();
			}));
			assertThat(impatient.getHikariPoolMXBean().getActiveConnections()).isZero();
		}
		assertThat(written()).isOne();
	}

	/** A thread need not close such a lease. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLeaseOfAFixedTimeThatIsOverDoesNotMatterToLaterTransactions(TestDatabase database) throws Exception {
		use(database);
		LockRegistry registry = new TransactionAwareLockRegistry(this.firstRegistry, OnActiveTransaction.DEFER);
		Lease lease = registry.acquire(this.request.withLeaseTime(Duration.ofMillis(300)));
		Awaitility.await().atMost(PATIENCE).until(() -> !lease.isHeld());
		overtake();
		// The thread counts from when the call of acquire returned, a little later
		Awaitility.await()
			.pollInSameThread()
			.atMost(PATIENCE)
			.ignoreException(LockLostException.class)
			.until(() -> this.transaction.execute((status) -> write()) == 1);
		assertThat(written()).isEqualTo(2);
	}

	@Test
	void eachOfTwoDatabasesBehindOneDataSourceHasItsClaim() throws Exception {
		AtomicReference<String> tenant = new AtomicReference<>("a");
		Map<Object, Object> databases = Map.of("a", database("a"), "b", database("b"));
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return tenant.get();
			}

		};
		routing.setTargetDataSources(databases);
		routing.afterPropertiesSet();
		use(TestDatabase.H2);
		JdbcTransactionManager manager = new JdbcTransactionManager(routing);
		manager.addListener(new TransactionFence(manager, new FenceTable(routing)));
		TransactionTemplate outer = new TransactionTemplate(manager);
		TransactionTemplate inner = new TransactionTemplate(manager);
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		inTime(() -> this.first.execute(this.request, (lease) -> outer.execute((status) -> {
			inner.execute((nested) -> 1);
			tenant.set("b");
			return inner.execute((nested) -> 1);
		})));
		assertThat(databases.values()).allSatisfy((each) -> assertThat(JdbcClient.create((DataSource) each)
			.sql("select count(*) from distributed_lock_fence")
			.query(Integer.class)
			.single()).isOne());
	}

	private static DataSource database(String name) throws Exception {
		DataSource database = new DriverManagerDataSource(
				"jdbc:h2:mem:" + name + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		DatabasePopulatorUtils.execute(
				new ResourceDatabasePopulator(new DefaultResourceLoader()
					.getResource(FenceSchema.LOCATION.replace("@@platform@@", FenceSchema.platform(database)))),
				database);
		return database;
	}

	/** Leases end at any time, and the table of claims alone keeps the owners apart. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 2", "POSTGRESQL, 4", "POSTGRESQL, 8", "MARIADB, 2", "MARIADB, 4", "MARIADB, 8", "H2, 2",
			"H2, 4" })
	void noUpdateIsLost(TestDatabase database, int isolation) throws Exception {
		use(database);
		this.transaction.setIsolationLevel(isolation);
		this.jdbc.sql("insert into ledger values (?, 0)").param(item()).update();
		AtomicInteger committed = new AtomicInteger();
		List<CompletableFuture<Void>> threads = Stream.of(this.first, this.second, this.first, this.second)
			.map((instance) -> CompletableFuture.runAsync(() -> {
				for (int i = 0; i < 50; i++) {
					int turn = i;
					try {
						instance.executeWithoutResult(this.request, (lease) -> {
							increment(turn);
							committed.incrementAndGet();
						});
					}
					catch (LockLostException | ConcurrencyFailureException ex) {
						// Refused, or committed and noticed at the release
					}
				}
			}, (task) -> new Thread(task).start()))
			.toList();
		CompletableFuture<?> all = CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new));
		while (!all.isDone()) {
			leasesExpire();
			Thread.onSpinWait();
		}
		all.join();
		assertThat(amount()).isEqualTo(committed.get()).isPositive();
	}

	private void increment(int turn) {
		this.transaction.executeWithoutResult((status) -> {
			int amount = amount();
			if (turn % 5 == 0) {
				with(TransactionDefinition.PROPAGATION_REQUIRES_NEW).execute((inner) -> amount());
			}
			this.jdbc.sql("update ledger set amount = ? where item = ?").param(amount + 1).param(item()).update();
		});
	}

	private int amount() {
		return this.jdbc.sql("select amount from ledger where item = ?").param(item()).query(Integer.class).single();
	}

}
