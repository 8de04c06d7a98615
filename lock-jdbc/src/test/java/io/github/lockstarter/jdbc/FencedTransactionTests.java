// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.fencing.FenceSchema;
import io.github.lockstarter.fencing.FenceTable;
import io.github.lockstarter.fencing.TransactionFence;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.transaction.LockCommitGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The transactions of late owners, which their databases refuse. The clock of the store
 * jumps, so the leases of owners expire without their knowledge.
 */
class FencedTransactionTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final AtomicLong jump = new AtomicLong();

	private final LockMemory memory = new LockMemory(() -> System.nanoTime() + this.jump.get());

	private final List<DefaultLockRegistry> registries = new ArrayList<>();

	private final List<HikariDataSource> pools = new ArrayList<>();

	private final LockTemplate first = instance(new MemoryLockStore(this.memory));

	private final LockTemplate second = instance(new MemoryLockStore(this.memory));

	/** Does not complain at the release that the lease was over. */
	private final LockTemplate uncomplaining = this.first.withOnLost(OnLost.LOG)
		.withTransactionFencing(TransactionFencing.ON);

	private final LockRequest request = LockRequest.of("stock", UUID.randomUUID());

	private HikariDataSource pool;

	private TransactionTemplate transaction;

	private JdbcClient jdbc;

	private LockTemplate instance(LockStore store) {
		DefaultLockRegistry registry = new DefaultLockRegistry(store, EngineSettings.DEFAULTS, LockListener.NO_OP);
		this.registries.add(registry);
		return new LockTemplate(registry);
	}

	@AfterEach
	void close() {
		this.registries.forEach(DefaultLockRegistry::close);
		this.pools.forEach(HikariDataSource::close);
	}

	private void use(TestDatabase database, int connections) {
		this.pool = database.pool(connections);
		this.pools.add(this.pool);
		createTable(this.pool);
		this.jdbc = JdbcClient.create(this.pool);
		this.jdbc.sql("create table if not exists ledger (item varchar(80), amount int)").update();
		this.transaction = fenced(this.pool);
	}

	private static void createTable(HikariDataSource pool) {
		try {
			String location = FenceSchema.LOCATION.replace("@@platform@@", FenceSchema.platform(pool));
			DatabasePopulatorUtils
				.execute(new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(location)), pool);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static TransactionTemplate fenced(HikariDataSource pool) {
		JdbcTransactionManager manager = new JdbcTransactionManager(pool);
		manager.addListener(new LockCommitGuard());
		manager.addListener(new TransactionFence(manager, new FenceTable(pool)));
		return new TransactionTemplate(manager);
	}

	/** The leases of all owners are over, which they do not know. */
	private void leasesExpire() {
		this.jump.addAndGet(TimeUnit.MINUTES.toNanos(1));
	}

	private int write(TransactionTemplate transaction) {
		return transaction.execute((
				status) -> this.jdbc.sql("insert into ledger values (?, 1)").param(this.request.key().text()).update());
	}

	private int written() {
		return this.jdbc.sql("select count(*) from ledger where item = ?")
			.param(this.request.key().text())
			.query(Integer.class)
			.single();
	}

	private int claims() {
		return this.jdbc.sql("select count(*) from distributed_lock_fence where lock_key like ?")
			.param("%" + this.request.key().text())
			.query(Integer.class)
			.single();
	}

	private TransactionTemplate requiringNew() {
		TransactionTemplate inner = new TransactionTemplate(this.transaction.getTransactionManager());
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		return inner;
	}

	/** Run what another owner does after the leases have expired. */
	private void overtake(LockRequest request) {
		leasesExpire();
		CompletableFuture.runAsync(() -> this.second.execute(request, (lease) -> write(this.transaction)))
			.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
			.join();
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
	void aLateOwnerIsRefusedBeforeItReads(TestDatabase database) {
		use(database, 2);
		List<String> ran = new ArrayList<>();
		assertRefused(() -> this.first.execute(this.request, (lease) -> {
			overtake(this.request);
			return this.transaction.execute((status) -> ran.add("body"));
		}));
		assertThat(ran).isEmpty();
		assertThat(written()).isOne();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void withoutFencingItIsNot(TestDatabase database) {
		use(database, 2);
		LockTemplate unfenced = this.first.withTransactionFencing(TransactionFencing.OFF);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> unfenced.execute(this.request, (lease) -> {
			overtake(this.request);
			return write(this.transaction);
		})).withMessageContaining("at its release");
		assertThat(written()).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void norIsOneWhoseLossDoesNotMatter(TestDatabase database) {
		use(database, 2);
		LockTemplate logging = this.first.withOnLost(OnLost.LOG);
		logging.execute(this.request, (lease) -> {
			overtake(this.request);
			return write(this.transaction);
		});
		assertThat(written()).isEqualTo(2);
		LockTemplate decided = logging.withTransactionFencing(TransactionFencing.ON);
		assertRefused(() -> decided.execute(this.request, (lease) -> {
			overtake(this.request);
			return write(this.transaction);
		}));
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLaterOwnerWaitsForTheCommitOfAnEarlierOne(TestDatabase database) {
		use(database, 3);
		CompletableFuture<Integer> later = this.uncomplaining.execute(this.request,
				(lease) -> this.transaction.execute((status) -> {
					leasesExpire();
					CompletableFuture<Integer> seen = CompletableFuture.supplyAsync(() -> this.second
						.execute(this.request, (other) -> this.transaction.execute((begun) -> written())));
					if (database != TestDatabase.H2) {
						Awaitility.await().atMost(PATIENCE).until(() -> database.waitsForRows() > 0);
					}
					this.jdbc.sql("insert into ledger values (?, 1)").param(this.request.key().text()).update();
					assertThat(seen).isNotDone();
					return seen;
				}));
		assertThat(later).succeedsWithin(PATIENCE).isEqualTo(1);
	}

	/** A connection that stays behind would be the only one. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void noConnectionIsLeftBehind(TestDatabase database) {
		use(database, 1);
		for (int i = 0; i < 3; i++) {
			assertRefused(() -> this.first.execute(this.request, (lease) -> {
				overtake(this.request);
				return write(this.transaction);
			}));
		}
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
		assertThat(written()).isEqualTo(3);
	}

	/** The outer transaction only reads, so it has not claimed. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void anOuterTransactionGoesOnAfterARefusal(TestDatabase database) {
		use(database, 3);
		TransactionTemplate reading = new TransactionTemplate(this.transaction.getTransactionManager());
		reading.setReadOnly(true);
		this.uncomplaining.execute(this.request, (lease) -> reading.execute((status) -> {
			overtake(this.request);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> write(requiringNew()));
			assertThat(TransactionSynchronizationManager.isCurrentTransactionReadOnly()).isTrue();
			assertThat(written()).isOne();
			return null;
		}));
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void anInnerTransactionDoesNotWaitForItsOuterOne(TestDatabase database) {
		use(database, 2);
		this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> {
			write(requiringNew());
			this.first.execute(this.request, (again) -> write(requiringNew()));
			return write(this.transaction);
		}));
		assertThat(written()).isEqualTo(3);
	}

	/** The second grant has a larger token, but the row is locked by the same thread. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void norDoesOneUnderALaterLeaseOfTheSameThread(TestDatabase database) {
		use(database, 2);
		LockTemplate releasing = this.first.withOnActiveTransaction(OnActiveTransaction.RELEASE_ON_RETURN);
		this.transaction.execute((status) -> {
			releasing.execute(this.request, (lease) -> write(this.transaction));
			return releasing.execute(this.request, (lease) -> write(requiringNew()));
		});
		assertThat(written()).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = "H2", mode = EnumSource.Mode.EXCLUDE)
	void parallelTransactionsOfOneLeaseDoNotWait(TestDatabase database) {
		use(database, 3);
		LockRequest owned = this.request.withOwner(new Object());
		CyclicBarrier bothAreOpen = new CyclicBarrier(2);
		Runnable call = () -> this.first.execute(owned, (lease) -> this.transaction.execute((status) -> {
			this.jdbc.sql("insert into ledger values (?, 1)").param(this.request.key().text()).update();
			return await(bothAreOpen);
		}));
		this.first.executeWithoutResult(owned,
				(lease) -> CompletableFuture.allOf(beside(call), beside(call))
					.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
					.join());
		assertThat(written()).isEqualTo(2);
		assertRefused(() -> this.first.execute(owned, (lease) -> {
			overtake(this.request);
			return write(this.transaction);
		}));
	}

	/**
	 * The threads that the JDK chooses may be too few for calls that wait for each other.
	 */
	private static CompletableFuture<Void> beside(Runnable call) {
		return CompletableFuture.runAsync(call, (task) -> new Thread(task).start());
	}

	private static int await(CyclicBarrier barrier) {
		try {
			return barrier.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void anotherTransactionOfTheSameLeaseIsNotRefused(TestDatabase database) {
		use(database, 1);
		this.first.execute(this.request, (lease) -> write(this.transaction) + write(this.transaction));
		this.first.execute(this.request, (lease) -> write(this.transaction));
		assertThat(written()).isEqualTo(3);
		assertThat(claims()).isOne();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionThatRolledBackHasClaimedNothing(TestDatabase database) {
		use(database, 2);
		this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> {
			status.setRollbackOnly();
			return null;
		}));
		assertThat(claims()).isZero();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionThatOnlyReadsClaimsNothing(TestDatabase database) {
		use(database, 1);
		this.transaction.setReadOnly(true);
		this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> written()));
		assertThat(claims()).isZero();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionWithoutALockClaimsNothing(TestDatabase database) {
		use(database, 1);
		this.first.execute(this.request, (lease) -> 1);
		write(this.transaction);
		assertThat(claims()).isZero();
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = "H2", mode = EnumSource.Mode.EXCLUDE)
	void readersCheckAndDoNotClaim(TestDatabase database) {
		use(database, 3);
		LockRequest reader = this.request.withMode(LockMode.READ);
		LockRequest writer = this.request.withMode(LockMode.WRITE);
		CyclicBarrier bothAreOpen = new CyclicBarrier(2);
		this.first.execute(writer, (lease) -> write(this.transaction));
		CompletableFuture.allOf(beside(
				() -> this.first.execute(reader, (lease) -> this.transaction.execute((status) -> await(bothAreOpen)))),
				beside(() -> this.second.execute(reader,
						(lease) -> this.transaction.execute((status) -> await(bothAreOpen)))))
			.join();
		assertRefused(() -> this.first.execute(reader, (lease) -> {
			overtake(writer);
			return write(this.transaction);
		}));
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = "H2", mode = EnumSource.Mode.EXCLUDE)
	void aWriterWaitsForTheFirstReader(TestDatabase database) {
		use(database, 3);
		CompletableFuture<Integer> later = this.uncomplaining.execute(this.request.withMode(LockMode.READ),
				(lease) -> this.transaction.execute((status) -> {
					leasesExpire();
					CompletableFuture<Integer> writer = CompletableFuture.supplyAsync(() -> this.second
						.execute(this.request.withMode(LockMode.WRITE), (other) -> write(this.transaction)));
					Awaitility.await().atMost(PATIENCE).until(() -> database.waitsForRows() > 0);
					assertThat(writer).isNotDone();
					return writer;
				}));
		assertThat(later).succeedsWithin(PATIENCE);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLockInsideATransactionIsClaimedAtItsAcquisition(TestDatabase database) {
		use(database, 2);
		this.transaction.executeWithoutResult((status) -> {
			this.first.execute(this.request, (lease) -> 1);
			assertThat(claims()).isOne();
		});
		this.jdbc.sql("update distributed_lock_fence set token = ? where lock_key like ?")
			.param(Long.MAX_VALUE)
			.param("%" + this.request.key().text())
			.update();
		List<String> ran = new ArrayList<>();
		assertRefused(() -> this.transaction
			.execute((status) -> this.first.execute(this.request, (lease) -> ran.add("body"))));
		assertThat(ran).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void allLocksOfASetAreClaimed(TestDatabase database) {
		use(database, 2);
		LockKey other = LockKey.of("other", this.request.key().key());
		LockSetRequest both = LockSetRequest.of(List.of(this.request, LockRequest.of(other)));
		assertRefused(() -> this.first.execute(both, (leases) -> {
			overtake(LockRequest.of(other));
			return write(this.transaction);
		}));
		assertThatNoException().isThrownBy(() -> this.second.execute(both, (leases) -> write(this.transaction)));
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void eachDatabaseHasItsOwnClaims(TestDatabase database) {
		use(database, 2);
		HikariDataSource other = new HikariDataSource();
		other.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
		this.pools.add(other);
		createTable(other);
		TransactionTemplate elsewhere = fenced(other);
		this.uncomplaining.execute(this.request, (lease) -> {
			overtake(this.request);
			JdbcClient.create(other).sql("create table done (id int)").update();
			elsewhere
				.executeWithoutResult((status) -> JdbcClient.create(other).sql("insert into done values (1)").update());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> write(this.transaction));
			return null;
		});
		assertThat(JdbcClient.create(other)
			.sql("select count(*) from distributed_lock_fence")
			.query(Integer.class)
			.single()).isOne();
	}

	/** The rows are new and lie beside each other, where some databases lock gaps. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void firstClaimsOfManyLocksDoNotDeadlock(TestDatabase database) {
		use(database, 8);
		// Most threads wait for a connection first
		this.pool.setConnectionTimeout(PATIENCE.toMillis());
		List<CompletableFuture<?>> all = new ArrayList<>();
		for (int i = 0; i < 64; i++) {
			LockRequest one = LockRequest.of("stock", this.request.key().key() + i);
			all.add(beside(() -> this.first.execute(one, (lease) -> write(this.transaction))));
		}
		assertThat(CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))).succeedsWithin(PATIENCE);
		assertThat(written()).isEqualTo(64);
	}

}
