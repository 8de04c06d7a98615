// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.FullProfileOnly;
import io.github.lockstarter.transaction.FenceTable;
import io.github.lockstarter.transaction.FencingNotPossibleException;
import io.github.lockstarter.transaction.LockCommitGuard;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;
import io.github.lockstarter.transaction.TransactionFence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The transactions of late owners, which their databases refuse: none evades its claim,
 * and none waits for itself. What SQL decides is shown on each database, and the rest on
 * one of them.
 */
class FencedTransactionTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String PERMANENT_CLAIM = "update distributed_lock_fence set token = ? where lock_key like ?";

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final EndlessLeases leases = new EndlessLeases();

	private final DefaultLockRegistry registry = this.leases.instance();

	private final LockRegistry locks = aware(this.registry, OnActiveTransaction.DEFAULT);

	private final LockTemplate first = new LockTemplate(this.locks);

	private final LockTemplate second = new LockTemplate(aware(this.leases.instance(), OnActiveTransaction.DEFAULT));

	private final LockTemplate releasing = new LockTemplate(
			aware(this.registry, OnActiveTransaction.RELEASE_ON_RETURN));

	/** Does not complain at the release that the lease was over. */
	private final LockTemplate uncomplaining = this.first.withOnLost(OnLost.LOG)
		.withTransactionFencing(TransactionFencing.ON);

	private final LockRequest request = LockRequest.of("stock", UUID.randomUUID());

	private HikariDataSource pool;

	private FenceTable table;

	private TransactionTemplate transaction;

	private JdbcClient jdbc;

	@AfterEach
	void close() {
		this.leases.close();
		this.pool.close();
	}

	/** Their tokens cannot be compared. */
	@Test
	void theLockOfAnotherRegistryHasAClaimOfItsOwn() throws Exception {
		useAny(1);
		LockTemplate other = new LockTemplate(new TransactionAwareLockRegistry("other", this.leases.instance(),
				OnActiveTransaction.DEFAULT, OnPersistenceContext.DEFAULT, LockListener.NO_OP));
		other.withOnLost(OnLost.LOG)
			.withTransactionFencing(TransactionFencing.ON)
			.executeWithoutResult(this.request, (lease) -> {
				this.leases.expire();
				this.first.executeWithoutResult(this.request, (later) -> {
					assertThat(later.fencingToken()).isGreaterThan(lease.fencingToken());
					assertThat(writeIn(this.transaction)).isOne();
				});
				assertThat(writeIn(this.transaction)).isOne();
			});
		assertThat(written()).isEqualTo(2);
	}

	private LockRegistry aware(LockRegistry registry, OnActiveTransaction onActiveTransaction) {
		return new TransactionAwareLockRegistry("memory", registry, onActiveTransaction, OnPersistenceContext.DEFAULT,
				this.events::add);
	}

	/** Any database will do, and this one is the fastest. */
	private void useAny(int connections) throws Exception {
		use(TestDatabase.H2, connections);
	}

	private void use(TestDatabase database, int connections) throws Exception {
		use(database.pool(connections));
	}

	private void use(HikariDataSource pool) throws Exception {
		this.pool = pool;
		createTable(this.pool);
		this.table = new FenceTable(this.pool);
		this.jdbc = JdbcClient.create(this.pool);
		this.jdbc.sql("create table if not exists ledger (item varchar(80), amount int)").update();
		this.transaction = new TransactionTemplate(fenced(new JdbcTransactionManager(this.pool), this.table));
	}

	private static void createTable(DataSource database) throws Exception {
		String location = FenceTable.schema(database);
		DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(location)),
				database);
	}

	private static JdbcTransactionManager fenced(JdbcTransactionManager manager, FenceTable table) {
		manager.addListener(new LockCommitGuard());
		manager.addListener(new TransactionFence(manager, table));
		return manager;
	}

	private TransactionTemplate with(int propagation) {
		TransactionTemplate template = new TransactionTemplate(manager());
		template.setPropagationBehavior(propagation);
		return template;
	}

	private PlatformTransactionManager manager() {
		return Objects.requireNonNull(this.transaction.getTransactionManager());
	}

	private int write() {
		return this.jdbc.sql("insert into ledger values (?, 1)").param(item()).update();
	}

	private int writeIn(TransactionTemplate transaction) {
		return transaction.execute((status) -> write());
	}

	private static int beginBesideAnOwner(TransactionTemplate transaction) {
		return transaction.execute((status) -> {
			throw new SafetyViolation("two owners are in their transactions at once");
		});
	}

	private int writeAnew() {
		return writeIn(with(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
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

	private int activeConnections() {
		return this.pool.getHikariPoolMXBean().getActiveConnections();
	}

	/** Run what another owner does after the leases have expired. */
	private void overtake(LockRequest request) {
		this.leases.expire();
		inTime(() -> this.second.execute(request, (lease) -> writeIn(this.transaction)));
	}

	/** A thread that waits for itself fails the test, and not the build. */
	private static <T> T inTime(Supplier<T> call) {
		try {
			return beside(call).join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
		}
	}

	/**
	 * The threads that the JDK chooses may be too few for calls that wait for each other.
	 */
	private static <T> CompletableFuture<T> beside(Supplier<T> call) {
		return CompletableFuture.supplyAsync(call, (task) -> new Thread(task).start())
			.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

	private static int await(CyclicBarrier barrier) {
		try {
			return barrier.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void assertRefused(Supplier<?> call) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(call::get)
			.withMessageContaining("a later owner has claimed");
		assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
		assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isFalse();
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLateOwnerIsRefusedBeforeItReads(TestDatabase database) throws Exception {
		use(database, 2);
		List<String> ran = new ArrayList<>();
		assertRefused(() -> this.first.execute(this.request, (lease) -> {
			overtake(this.request);
			return this.transaction.execute((status) -> ran.add("body"));
		}));
		assertThat(ran).isEmpty();
		assertThat(written()).isOne();
	}

	@Test
	void aRefusedTransactionIsAnEventThoughItsListenerBeginsOneItself() throws Exception {
		useAny(4);
		LockTemplate late = new LockTemplate(new TransactionAwareLockRegistry("memory", this.registry,
				OnActiveTransaction.DEFAULT, OnPersistenceContext.DEFAULT, (event) -> {
					this.events.add(event);
					writeAnew();
				}))
			.withOnLost(OnLost.LOG)
			.withTransactionFencing(TransactionFencing.ON);
		long token = late.execute(this.request, (lease) -> {
			overtake(this.request);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> writeIn(this.transaction));
			return lease.fencingToken();
		});
		assertThat(this.events).filteredOn(LockEvent.TransactionRefused.class::isInstance)
			.containsExactly(new LockEvent.TransactionRefused(this.request.key(), LockMode.EXCLUSIVE, "memory", token));
		assertThat(written()).isOne();
	}

	/** A claim of its own would wait for the outer transaction, which waits for it. */
	@Test
	void aLateOwnerIsRefusedInsideTheTransactionThatHasClaimedALargerToken() throws Exception {
		useAny(2);
		LockRequest owned = this.request.withOwner(new Object());
		this.registry.acquire(owned);
		this.leases.expire();
		LockTemplate later = new LockTemplate(aware(this.leases.instance(), OnActiveTransaction.RELEASE_ON_RETURN));
		TransactionStatus outer = later.execute(this.request,
				(lease) -> manager().getTransaction(TransactionDefinition.withDefaults()));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.uncomplaining.execute(owned, (again) -> writeAnew()))
			.withMessageContaining("a later owner has claimed");
		manager().rollback(outer);
		assertThat(written()).isZero();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLaterOwnerWaitsForTheCommitOfAnEarlierOne(TestDatabase database) throws Exception {
		use(database, 3);
		AtomicReference<CompletableFuture<Integer>> later = new AtomicReference<>();
		this.uncomplaining.executeWithoutResult(this.request,
				(lease) -> this.transaction.executeWithoutResult((status) -> {
					this.leases.expire();
					CompletableFuture<Integer> seen = beside(() -> this.second.execute(this.request,
							(other) -> this.transaction.execute((begun) -> written())));
					if (database != TestDatabase.H2) {
						Awaitility.await().atMost(PATIENCE).until(() -> database.waitsForRows() > 0);
					}
					write();
					assertThat(seen).isNotDone();
					later.set(seen);
				}));
		assertThat(later.get()).succeedsWithin(PATIENCE).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void otherTransactionsOfTheSameLeaseAndOfTheNextOneAreNotRefused(TestDatabase database) throws Exception {
		use(database, 1);
		this.first.execute(this.request, (lease) -> writeIn(this.transaction) + writeIn(this.transaction));
		this.first.execute(this.request, (lease) -> writeIn(this.transaction));
		assertThat(written()).isEqualTo(3);
		assertThat(claims()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionThatRolledBackHasClaimedNothing(TestDatabase database) throws Exception {
		use(database, 2);
		this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> {
			status.setRollbackOnly();
			return null;
		}));
		assertThat(claims()).isEmpty();
	}

	/** Its owner is not a thread. */
	@Test
	void transactionsOfOneLeaseRunOneAfterTheOther() throws Exception {
		use(TestDatabase.POSTGRESQL, 3);
		LockRequest owned = this.request.withOwner(new Object());
		AtomicReference<CompletableFuture<Integer>> next = new AtomicReference<>();
		this.first.executeWithoutResult(owned, (lease) -> this.transaction.executeWithoutResult((status) -> {
			next.set(
					beside(() -> this.first.execute(owned, (again) -> this.transaction.execute((begun) -> written()))));
			Awaitility.await().atMost(PATIENCE).until(() -> TestDatabase.POSTGRESQL.waitsForRows() > 0);
			write();
		}));
		assertThat(next.get()).succeedsWithin(PATIENCE).isEqualTo(1);
	}

	/** The rows are new and lie beside each other, where some databases lock gaps. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void firstClaimsOfManyLocksDoNotDeadlock(TestDatabase database) throws Exception {
		use(database, 8);
		// Most threads wait for a connection first
		this.pool.setConnectionTimeout(PATIENCE.toMillis());
		List<CompletableFuture<?>> all = new ArrayList<>();
		for (int i = 0; i < 64; i++) {
			LockRequest one = LockRequest.of("stock", this.request.key().key() + i);
			all.add(beside(() -> this.first.execute(one, (lease) -> writeIn(this.transaction))));
		}
		assertThat(CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))).succeedsWithin(PATIENCE);
		assertThat(written()).isEqualTo(64);
	}

	/** The row of the claim exists, but the snapshot is older. */
	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "H2", "POSTGRESQL" })
	void aClaimThatCannotBeSeenEndsTheTransaction(TestDatabase database) throws Exception {
		use(database, 8);
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

	/** The leases are over, so each owner gets the lock of the other one. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void ownersThatClaimInDifferentOrdersAreSeparatedByTheDatabase(TestDatabase database) throws Exception {
		HikariDataSource pool = database.pool(8);
		// By default they wait for seconds before they look for a deadlock, or give up
		pool.setConnectionInitSql(switch (database) {
			case POSTGRESQL -> "set deadlock_timeout = 200";
			case MARIADB -> "select 1";
			case H2 -> "set lock_timeout 200";
		});
		use(pool);
		LockRequest other = LockRequest.of("other", this.request.key().key());
		CyclicBarrier bothHaveClaimed = new CyclicBarrier(2, this.leases::expire);
		List<CompletableFuture<Integer>> owners = Stream
			.of(owner(this.first, this.request, other, bothHaveClaimed),
					owner(this.second, other, this.request, bothHaveClaimed))
			.map(FencedTransactionTests::beside)
			.toList();
		Awaitility.await().atMost(PATIENCE).until(() -> owners.stream().allMatch(CompletableFuture::isDone));
		List<Throwable> failures = owners.stream()
			.filter(CompletableFuture::isCompletedExceptionally)
			.map((owner) -> owner.handle((done, failure) -> failure).join())
			.map((failure) -> (failure instanceof CompletionException) ? failure.getCause() : failure)
			.toList();
		assertThat(failures).isNotEmpty().anySatisfy((ex) -> assertThat(ex).isInstanceOf(DataAccessException.class));
		assertThat(written()).isEqualTo(2 - failures.size());
		assertThat(activeConnections()).isZero();
	}

	private Supplier<Integer> owner(LockTemplate instance, LockRequest outer, LockRequest inner,
			CyclicBarrier bothHaveClaimed) {
		LockTemplate template = instance.withOnLost(OnLost.LOG).withTransactionFencing(TransactionFencing.ON);
		return () -> template.execute(outer, (lease) -> this.transaction.execute((status) -> {
			await(bothHaveClaimed);
			return template.execute(inner, (nested) -> write());
		}));
	}

	/** The other owner is paused inside of its transaction. */
	@Tag("clock")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aClaimWaitsNoLongerThanItsTransactionMay(TestDatabase database) throws Exception {
		use(database, 8);
		TransactionTemplate impatient = new TransactionTemplate(manager());
		impatient.setTimeout(1);
		this.uncomplaining.execute(this.request, (lease) -> this.transaction.execute((status) -> {
			this.leases.expire();
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(
					() -> inTime(() -> this.second.execute(this.request, (later) -> beginBesideAnOwner(impatient))));
			assertThat(activeConnections()).isOne();
			return write();
		}));
		assertThat(written()).isOne();
	}

	/** So it ends as well if the transactions have no time-out. */
	@Tag("clock")
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, &options=-c%20lock_timeout=200", "MARIADB, &sessionVariables=innodb_lock_wait_timeout=1",
			"H2, ;LOCK_TIMEOUT=200" })
	void aClaimWaitsNoLongerThanItsDatabaseAllows(TestDatabase database, String timeout) throws Exception {
		use(database, 8);
		try (HikariDataSource impatient = TestDatabase.pool(database.url() + timeout, 1)) {
			JdbcTransactionManager manager = new JdbcTransactionManager(impatient);
			manager.addListener(new TransactionFence(manager, new FenceTable(impatient)));
			TransactionTemplate late = new TransactionTemplate(manager);
			this.uncomplaining.execute(this.request, (lease) -> this.transaction.execute((status) -> {
				this.leases.expire();
				for (int i = 0; i < 2; i++) {
					assertThatExceptionOfType(CannotAcquireLockException.class).isThrownBy(
							() -> inTime(() -> this.second.execute(this.request, (later) -> beginBesideAnOwner(late))));
				}
				return write();
			}));
			assertThat(impatient.getHikariPoolMXBean().getActiveConnections()).isZero();
		}
		assertThat(written()).isOne();
	}

	/** Leases end at any time, and the table of claims alone keeps the owners apart. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 2", "MARIADB, 4", "H2, 2" })
	void noUpdateIsLost(TestDatabase database, int isolation) throws Exception {
		assertNoUpdateIsLost(database, isolation);
	}

	@FullProfileOnly
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 4", "POSTGRESQL, 8", "MARIADB, 2", "MARIADB, 8", "H2, 4" })
	void noUpdateIsLostWhereTheIsolationIsNotTheUsualOne(TestDatabase database, int isolation) throws Exception {
		assertNoUpdateIsLost(database, isolation);
	}

	private void assertNoUpdateIsLost(TestDatabase database, int isolation) throws Exception {
		use(database, 8);
		this.transaction.setIsolationLevel(isolation);
		this.jdbc.sql("insert into ledger values (?, 0)").param(item()).update();
		AtomicInteger committed = new AtomicInteger();
		List<CompletableFuture<Integer>> threads = Stream.of(this.first, this.second, this.first, this.second)
			.map((instance) -> beside(() -> incrementOften(instance, committed)))
			.toList();
		CompletableFuture<?> all = CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new));
		while (!all.isDone()) {
			this.leases.expire();
			Thread.onSpinWait();
		}
		all.join();
		SafetyViolation.check(amount() == committed.get(), "%s instead of %s updates", amount(), committed);
		assertThat(committed).hasPositiveValue();
	}

	private int incrementOften(LockTemplate instance, AtomicInteger committed) {
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
		return 50;
	}

	private void increment(int turn) {
		this.transaction.executeWithoutResult((status) -> {
			int amount = amount();
			if (turn % 5 == 0) {
				with(TransactionDefinition.PROPAGATION_REQUIRES_NEW).execute((inner) -> amount());
			}
			increase(amount);
		});
	}

	private void increase(int amount) {
		this.jdbc.sql("update ledger set amount = ? where item = ?").param(amount + 1).param(item()).update();
	}

	private int amount() {
		return this.jdbc.sql("select amount from ledger where item = ?").param(item()).query(Integer.class).single();
	}

	/**
	 * Its snapshot may be as old as the beginning of the wait, and then PostgreSQL
	 * refuses the claim, or what is written after it.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void atRepeatableReadAClaimThatHadToWaitIsAnErrorAndNoUpdateIsLost(boolean commits) throws Exception {
		use(TestDatabase.POSTGRESQL, 4);
		this.jdbc.sql("insert into ledger values (?, 0)").param(item()).update();
		this.transaction.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		AtomicReference<CompletableFuture<?>> later = new AtomicReference<>();
		this.uncomplaining.executeWithoutResult(this.request,
				(lease) -> this.transaction.executeWithoutResult((status) -> {
					this.leases.expire();
					later.set(beside(() -> this.second.execute(this.request, (next) -> {
						increment(1);
						return true;
					})));
					Awaitility.await().atMost(PATIENCE).until(() -> TestDatabase.POSTGRESQL.waitsForRows() > 0);
					with(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
						.executeWithoutResult((inner) -> increase(amount()));
					if (!commits) {
						status.setRollbackOnly();
					}
				}));
		assertThat(later.get()).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(ConcurrencyFailureException.class);
		assertThat(amount()).isOne();
		this.second.executeWithoutResult(this.request, (lease) -> increment(1));
		SafetyViolation.check(amount() == 2, "%s instead of 2 updates", amount());
	}

	@Test
	void withoutFencingALateOwnerIsNotRefused() throws Exception {
		useAny(2);
		LockTemplate unfenced = this.first.withTransactionFencing(TransactionFencing.OFF);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> unfenced.execute(this.request, (lease) -> {
			overtake(this.request);
			return writeIn(this.transaction);
		})).withMessageContaining("at its release");
		assertThat(written()).isEqualTo(2);
	}

	@Test
	void anOwnerWhoseLossDoesNotMatterIsRefusedOnlyIfThatIsDecided() throws Exception {
		useAny(2);
		LockTemplate logging = this.first.withOnLost(OnLost.LOG);
		logging.execute(this.request, (lease) -> {
			overtake(this.request);
			return writeIn(this.transaction);
		});
		assertThat(written()).isEqualTo(2);
		LockTemplate decided = logging.withTransactionFencing(TransactionFencing.ON);
		assertRefused(() -> decided.execute(this.request, (lease) -> {
			overtake(this.request);
			return writeIn(this.transaction);
		}));
	}

	/** A connection that stays behind would be the only one. */
	@Test
	void noConnectionIsLeftBehind() throws Exception {
		useAny(1);
		for (int i = 0; i < 3; i++) {
			assertRefused(() -> this.first.execute(this.request, (lease) -> {
				overtake(this.request);
				return writeIn(this.transaction);
			}));
		}
		assertThat(activeConnections()).isZero();
		assertThat(written()).isEqualTo(3);
	}

	/** The outer transaction only reads, so it has not claimed. */
	@Test
	void anOuterTransactionGoesOnAfterARefusal() throws Exception {
		useAny(3);
		TransactionTemplate reading = new TransactionTemplate(manager());
		reading.setReadOnly(true);
		this.uncomplaining.execute(this.request, (lease) -> reading.execute((status) -> {
			overtake(this.request);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(this::writeAnew);
			assertThat(TransactionSynchronizationManager.isCurrentTransactionReadOnly()).isTrue();
			assertThat(written()).isOne();
			return null;
		}));
		assertThat(activeConnections()).isZero();
	}

	@Test
	void anInnerTransactionDoesNotWaitForItsOuterOne() throws Exception {
		useAny(2);
		inTime(() -> this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> {
			writeAnew();
			this.first.execute(this.request, (again) -> writeAnew());
			return write();
		})));
		assertThat(written()).isEqualTo(3);
	}

	/** The second grant has a larger token, but the row is locked by the same thread. */
	@Test
	void anInnerTransactionUnderALaterLeaseOfTheSameThreadDoesNotWait() throws Exception {
		useAny(2);
		inTime(() -> this.transaction.execute((status) -> {
			this.releasing.execute(this.request, (lease) -> write());
			return this.releasing.execute(this.request, (lease) -> writeAnew());
		}));
		assertThat(written()).isEqualTo(2);
	}

	@Test
	void aTransactionOfAnotherManagerDoesNotWaitForItsOuterOne() throws Exception {
		useAny(8);
		TransactionTemplate other = new TransactionTemplate(fenced(new JdbcTransactionManager(this.pool), this.table));
		other.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		inTime(() -> this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> {
			writeIn(other);
			return write();
		})));
		assertThat(written()).isEqualTo(2);
	}

	@Test
	void aTransactionThatOnlyReadsClaimsNothing() throws Exception {
		useAny(1);
		this.transaction.setReadOnly(true);
		this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> written()));
		assertThat(claims()).isEmpty();
	}

	@Test
	void aTransactionWithoutALockClaimsNothing() throws Exception {
		useAny(1);
		this.first.execute(this.request, (lease) -> 1);
		writeIn(this.transaction);
		assertThat(claims()).isEmpty();
	}

	@Test
	void aLockInsideATransactionIsClaimedAtItsAcquisition() throws Exception {
		useAny(2);
		this.transaction.executeWithoutResult((status) -> {
			this.first.execute(this.request, (lease) -> 1);
			assertThat(claims()).hasSize(1);
		});
		claimForGood();
		List<String> ran = new ArrayList<>();
		assertRefused(() -> this.transaction
			.execute((status) -> this.first.execute(this.request, (lease) -> ran.add("body"))));
		assertThat(ran).isEmpty();
	}

	private void claimForGood() {
		assertThat(this.jdbc.sql(PERMANENT_CLAIM).param(Long.MAX_VALUE).param("%" + item()).update()).isOne();
	}

	@Test
	void allLocksOfASetAreClaimed() throws Exception {
		useAny(2);
		LockKey other = LockKey.of("other", this.request.key().key());
		List<LockRequest> both = List.of(this.request, LockRequest.of(other));
		assertRefused(() -> this.first.execute(both, (leases) -> {
			overtake(LockRequest.of(other));
			return writeIn(this.transaction);
		}));
		assertThatNoException().isThrownBy(() -> this.second.execute(both, (leases) -> writeIn(this.transaction)));
	}

	@Test
	void twoManagersOfOneDatabaseDoNotWaitForEachOther() throws Exception {
		use(TestDatabase.POSTGRESQL, 2);
		TransactionTemplate inner = new TransactionTemplate(
				fenced(new JdbcTransactionManager(this.pool), new FenceTable(this.pool)));
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		inTime(() -> this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> writeIn(inner))));
		assertThat(written()).isOne();
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void twoAddressesOfOneDatabaseDoNotWaitForEachOther(TestDatabase database) throws Exception {
		use(database, 2);
		try (HikariDataSource other = TestDatabase.pool(database.url().replace("127.0.0.1", "localhost"), 2)) {
			other.setAutoCommit(false);
			TransactionTemplate outer = new TransactionTemplate(
					fenced(new JdbcTransactionManager(other), new FenceTable(other)));
			inTime(() -> this.first.execute(this.request,
					(lease) -> outer.execute((status) -> writeIn(this.transaction))));
		}
		assertThat(written()).isOne();
		assertThat(claims()).hasSize(1);
	}

	@Test
	void theClaimOfAnOuterTransactionDoesNotCountInAnotherDatabase() throws Exception {
		useAny(2);
		DataSource other = emptyDatabase();
		TransactionTemplate elsewhere = new TransactionTemplate(
				fenced(new JdbcTransactionManager(other), new FenceTable(other)));
		inTime(() -> this.first.execute(this.request,
				(lease) -> this.transaction.execute((status) -> writeIn(elsewhere))));
		assertThat(claimsIn(other)).isOne();
	}

	@Test
	void eachDatabaseHasItsOwnClaims() throws Exception {
		useAny(2);
		DataSource other = emptyDatabase();
		JdbcClient elsewhere = JdbcClient.create(other);
		elsewhere.sql("create table done (id int)").update();
		TransactionTemplate transaction = new TransactionTemplate(
				fenced(new JdbcTransactionManager(other), new FenceTable(other)));
		this.uncomplaining.execute(this.request, (lease) -> {
			overtake(this.request);
			transaction.executeWithoutResult((status) -> elsewhere.sql("insert into done values (1)").update());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> writeIn(this.transaction));
			return null;
		});
		assertThat(claimsIn(other)).isOne();
	}

	private static DataSource emptyDatabase() throws Exception {
		DataSource database = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		createTable(database);
		return database;
	}

	private static int claimsIn(DataSource database) {
		return JdbcClient.create(database)
			.sql("select count(*) from distributed_lock_fence")
			.query(Integer.class)
			.single();
	}

	/** An event listener for the phase after the commit does this. */
	@Test
	void aTransactionAfterTheCommitClaimsAnew() throws Exception {
		useAny(8);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(
				() -> inTime(() -> this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> {
					afterCommit(() -> {
						overtake(this.request);
						writeAnew();
					});
					return write();
				}))))
			.withMessageContaining("a later owner has claimed");
		assertThat(written()).isEqualTo(2);
	}

	/** The connection of the transaction that has ended is still bound then. */
	@Test
	void aLockAcquiredAfterTheCommitDoesNotWaitForItself() throws Exception {
		useAny(8);
		inTime(() -> this.transaction.execute((status) -> {
			afterCommit(() -> this.first.execute(this.request, (lease) -> writeAnew()));
			return write();
		}));
		assertThat(written()).isEqualTo(2);
		assertThat(claims()).hasSize(1);
	}

	private static void afterCommit(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				action.run();
			}

		});
	}

	@Test
	void aTransactionAfterARollbackClaimsAnew() throws Exception {
		useAny(8);
		List<Throwable> refused = new ArrayList<>();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> inTime(
				() -> this.uncomplaining.execute(this.request, (lease) -> this.transaction.execute((status) -> {
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void beforeCommit(boolean readOnly) {
							throw new IllegalStateException("rolled back");
						}

						@Override
						public void afterCompletion(int outcome) {
							overtake(FencedTransactionTests.this.request);
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

	/**
	 * The flush of JPA is part of the commit, and its listeners may begin transactions.
	 */
	@Test
	void aTransactionDuringTheCommitDoesNotWaitForIt() throws Exception {
		useAny(8);
		JdbcTransactionManager flushing = new JdbcTransactionManager(this.pool) {

			@Override
			protected void doCommit(DefaultTransactionStatus status) {
				writeAnew();
				super.doCommit(status);
			}

		};
		TransactionTemplate transaction = new TransactionTemplate(fenced(flushing, this.table));
		inTime(() -> this.first.execute(this.request, (lease) -> writeIn(transaction)));
		assertThat(written()).isEqualTo(2);
	}

	@Test
	void aClaimThatWasLostWithItsSavepointIsRepeated() throws Exception {
		useAny(8);
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

	@Test
	void aClaimBeforeTheSavepointIsNotRepeated() throws Exception {
		useAny(8);
		inTime(() -> this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> {
			with(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
				write();
				nested.setRollbackOnly();
			});
			return writeAnew();
		})));
		assertThat(written()).isOne();
	}

	@Test
	void aLockThatWasAcquiredWhileTheTransactionWasSuspendedIsClaimedAtTheCommit() throws Exception {
		useAny(8);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> inTime(() -> this.transaction.execute((status) -> {
				Lease lease = with(TransactionDefinition.PROPAGATION_NOT_SUPPORTED)
					.execute((suspended) -> this.locks.acquire(this.request));
				overtake(this.request);
				write();
				lease.close();
				return null;
			})))
			.withMessageContaining("a later owner has claimed");
		assertThat(written()).isOne();
	}

	/** The outer transaction would keep the row of its claim, though the lock is free. */
	@Test
	void aLockThatIsReleasedInsideATransactionIsNotClaimedByIt() throws Exception {
		useAny(8);
		inTime(() -> this.transaction.execute((status) -> {
			this.releasing.execute(this.request, (lease) -> writeAnew());
			return inTime(() -> this.second.execute(this.request, (lease) -> writeAnew()));
		}));
		assertThat(written()).isEqualTo(2);
	}

	@Test
	void aReaderIsRefusedUnlessItsTransactionOnlyReadsOrItIsAWriterToo() throws Exception {
		useAny(2);
		LockRequest reader = this.request.withMode(LockMode.READ);
		assertThatExceptionOfType(FencingNotPossibleException.class)
			.isThrownBy(() -> this.first.execute(reader, (lease) -> writeIn(this.transaction)))
			.withMessageContaining("readers (mode READ) claim nothing")
			.withMessageContaining("fence < :token");
		assertThatExceptionOfType(FencingNotPossibleException.class)
			.isThrownBy(() -> this.transaction.execute((status) -> this.first.execute(reader, (lease) -> write())));
		TransactionTemplate reading = new TransactionTemplate(manager());
		reading.setReadOnly(true);
		assertThat(this.first.<Integer>execute(reader, (lease) -> reading.execute((status) -> written()))).isZero();
		this.first.execute(this.request.withMode(LockMode.WRITE),
				(lease) -> this.first.execute(reader, (again) -> writeIn(this.transaction)));
		assertThat(claims()).hasSize(1);
	}

	@Test
	void aTransactionWithoutSynchronizationClaims() throws Exception {
		useAny(8);
		JdbcTransactionManager manager = fenced(new JdbcTransactionManager(this.pool), this.table);
		manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		TransactionTemplate silent = new TransactionTemplate(manager);
		this.first.execute(this.request, (lease) -> writeIn(silent));
		assertThat(claims()).hasSize(1);
		claimForGood();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.first.execute(this.request, (lease) -> writeIn(silent)));
		assertThat(written()).isOne();
		assertThat(activeConnections()).isZero();
	}

	/** A thread need not close such a lease. */
	@Test
	@Tag("clock")
	void aLeaseOfAFixedTimeThatIsOverDoesNotMatterToLaterTransactions() throws Exception {
		useAny(8);
		Lease lease = this.locks.acquire(this.request.withLeaseTime(Duration.ofMillis(300)));
		Awaitility.await().atMost(PATIENCE).until(() -> !lease.isHeld());
		overtake(this.request);
		// The thread counts from when the call of acquire returned, a little later
		Awaitility.await()
			.pollInSameThread()
			.atMost(PATIENCE)
			.ignoreException(LockLostException.class)
			.until(() -> writeIn(this.transaction) == 1);
		assertThat(written()).isEqualTo(2);
	}

}
