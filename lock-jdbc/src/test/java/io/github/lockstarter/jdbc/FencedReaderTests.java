// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The fenced transactions of readers, of whose lock the table of claims has no row yet.
 */
class FencedReaderTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final AtomicLong jump = new AtomicLong();

	private final LockMemory memory = new LockMemory(() -> System.nanoTime() + this.jump.get());

	private final DefaultLockRegistry firstRegistry = registry();

	private final DefaultLockRegistry secondRegistry = registry();

	private final LockTemplate first = new LockTemplate(this.firstRegistry);

	private final LockTemplate second = new LockTemplate(this.secondRegistry);

	/** Does not complain at the release that the lease was over. */
	private final LockTemplate uncomplaining = this.first.withOnLost(OnLost.LOG)
		.withTransactionFencing(TransactionFencing.ON);

	private final LockRequest reader = LockRequest.of("stock", UUID.randomUUID()).withMode(LockMode.READ);

	private final LockRequest writer = this.reader.withMode(LockMode.WRITE);

	private HikariDataSource pool;

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
		this.jdbc = JdbcClient.create(this.pool);
		this.jdbc.sql("create table if not exists ledger (item varchar(80), amount int)").update();
		JdbcTransactionManager manager = new JdbcTransactionManager(this.pool);
		manager.addListener(new TransactionFence(manager, new FenceTable(this.pool)));
		this.transaction = new TransactionTemplate(manager);
	}

	private void use(TestDatabase database, int isolation) throws Exception {
		use(database);
		this.transaction.setIsolationLevel(isolation);
	}

	private int write() {
		return this.jdbc.sql("insert into ledger values (?, 1)").param(this.reader.key().text()).update();
	}

	private int written() {
		return this.jdbc.sql("select count(*) from ledger where item = ?")
			.param(this.reader.key().text())
			.query(Integer.class)
			.single();
	}

	/** The leases of all owners are over, which they do not know. */
	private void leasesExpire() {
		this.jump.addAndGet(TimeUnit.MINUTES.toNanos(1));
	}

	private static <T> CompletableFuture<T> inThread(Supplier<T> call) {
		return CompletableFuture.supplyAsync(call, (task) -> new Thread(task).start());
	}

	private static void inThreads(int count, IntFunction<?> call) {
		List<? extends CompletableFuture<?>> all = IntStream.range(0, count)
			.mapToObj((i) -> inThread(() -> call.apply(i)))
			.toList();
		assertThat(CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))).succeedsWithin(PATIENCE);
	}

	private static int await(CyclicBarrier barrier) {
		try {
			return barrier.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A commit ahead would end it. */
	@Test
	void whatAManagerHasSetForTheTransactionStays() throws Exception {
		use(TestDatabase.POSTGRESQL);
		JdbcTransactionManager ofTenants = new JdbcTransactionManager(this.pool) {

			@Override
			protected void doBegin(Object transaction, TransactionDefinition definition) {
				super.doBegin(transaction, definition);
				FencedReaderTests.this.jdbc.sql("select set_config('shop.tenant', 'one', true)")
					.query(String.class)
					.single();
			}

		};
		ofTenants.addListener(new TransactionFence(ofTenants, new FenceTable(this.pool)));
		String tenant = this.first.execute(this.reader, (lease) -> new TransactionTemplate(ofTenants).execute(
				(status) -> this.jdbc.sql("select current_setting('shop.tenant', true)").query(String.class).single()));
		assertThat(tenant).isEqualTo("one");
	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 2", "POSTGRESQL, 4", "POSTGRESQL, 8", "MARIADB, 2", "MARIADB, 4", "MARIADB, 8" })
	void firstReadersDoNotWaitForEachOther(TestDatabase database, int isolation) throws Exception {
		use(database, isolation);
		for (int i = 0; i < 10; i++) {
			LockRequest one = LockRequest.of("stock", this.reader.key().key() + i).withMode(LockMode.READ);
			CyclicBarrier allAreOpen = new CyclicBarrier(6);
			inThreads(6, (thread) -> this.first.execute(one,
					(lease) -> this.transaction.execute((status) -> await(allAreOpen))));
		}
	}

	/** The rows are new and lie beside each other, where some databases lock gaps. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 2", "MARIADB, 2", "MARIADB, 4", "MARIADB, 8", "H2, 2" })
	void firstReadersOfManyLocksDoNotDeadlock(TestDatabase database, int isolation) throws Exception {
		use(database, isolation);
		// Most threads wait for a connection first
		this.pool.setConnectionTimeout(PATIENCE.toMillis());
		inThreads(120, (i) -> {
			LockRequest one = LockRequest.of("stock", this.reader.key().key() + i).withMode(LockMode.READ);
			return this.first.execute(one, (lease) -> this.transaction.execute((status) -> write()));
		});
		assertThat(written()).isEqualTo(120);
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = "H2", mode = EnumSource.Mode.EXCLUDE)
	void aLaterWriterWaitsForAllReaders(TestDatabase database) throws Exception {
		use(database);
		CyclicBarrier bothAreOpen = new CyclicBarrier(2);
		CyclicBarrier bothMayEnd = new CyclicBarrier(2);
		CompletableFuture<Integer> other = inThread(() -> this.uncomplaining.execute(this.reader,
				(lease) -> this.transaction.execute((status) -> await(bothAreOpen) + await(bothMayEnd))));
		CompletableFuture<Integer> later = this.uncomplaining.execute(this.reader,
				(lease) -> this.transaction.execute((status) -> {
					await(bothAreOpen);
					leasesExpire();
					return inThread(() -> this.second.execute(this.writer,
							(next) -> this.transaction.execute((begun) -> write())));
				}));
		// One has ended, and the other is still open
		Awaitility.await().atMost(PATIENCE).until(() -> database.waitsForRows() > 0);
		assertThat(later).isNotDone();
		await(bothMayEnd);
		assertThat(other).succeedsWithin(PATIENCE);
		assertThat(later).succeedsWithin(PATIENCE).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLateFirstReaderIsRefused(TestDatabase database) throws Exception {
		use(database);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.first.execute(this.reader, (lease) -> {
			leasesExpire();
			assertThat(inThread(
					() -> this.second.execute(this.writer, (later) -> this.transaction.execute((status) -> write()))))
				.succeedsWithin(PATIENCE);
			return this.transaction.execute((status) -> write());
		})).withMessageContaining("a later owner has claimed");
		assertThat(written()).isOne();
	}

	/** The writer is late, but its transaction began before. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 2", "POSTGRESQL, 4", "POSTGRESQL, 8", "MARIADB, 2", "MARIADB, 4" })
	void aReaderSeesWhatAnEarlierWriterHasCommitted(TestDatabase database, int isolation) throws Exception {
		use(database, isolation);
		this.first.execute(this.reader, (lease) -> this.transaction.execute((status) -> written()));
		CompletableFuture<Integer> seen = this.uncomplaining.execute(this.writer,
				(lease) -> this.transaction.execute((status) -> {
					leasesExpire();
					CompletableFuture<Integer> later = inThread(() -> this.second.execute(this.reader,
							(other) -> this.transaction.execute((begun) -> written())));
					Awaitility.await().atMost(PATIENCE).until(() -> database.waitsForRows() > 0);
					write();
					return later;
				}));
		assertThat(seen).succeedsWithin(PATIENCE).isEqualTo(1);
	}

	/** The reader has not changed the row for which the writer has waited. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 2", "POSTGRESQL, 4", "POSTGRESQL, 8", "MARIADB, 2", "MARIADB, 4", "MARIADB, 8", "H2, 2",
			"H2, 4", "H2, 8" })
	void aWriterSeesWhatAnEarlierReaderHasCommitted(TestDatabase database, int isolation) throws Exception {
		use(database, isolation);
		CompletableFuture<Integer> seen = this.uncomplaining.execute(this.reader,
				(lease) -> this.transaction.execute((status) -> writeBefore(database, this.writer)));
		assertThat(seen).succeedsWithin(PATIENCE).isEqualTo(1);
	}

	/** The rollback has restored the row for which the later owner has waited. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 2, WRITE", "POSTGRESQL, 4, WRITE", "POSTGRESQL, 8, WRITE", "POSTGRESQL, 4, READ",
			"MARIADB, 4, WRITE", "MARIADB, 4, READ", "H2, 4, WRITE", "H2, 4, READ", "H2, 8, WRITE" })
	void aLaterOwnerSeesWhatAnInnerTransactionHasCommitted(TestDatabase database, int isolation, LockMode later)
			throws Exception {
		use(database, isolation);
		TransactionTemplate inner = new TransactionTemplate(
				Objects.requireNonNull(this.transaction.getTransactionManager()));
		inner.setIsolationLevel(isolation);
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.first.execute(this.writer, (lease) -> this.transaction.execute((status) -> lease.fencingToken()));
		CompletableFuture<Integer> seen = this.uncomplaining.execute(this.writer,
				(lease) -> this.transaction.execute((status) -> {
					status.setRollbackOnly();
					return inner.execute((begun) -> writeBefore(database, this.writer.withMode(later)));
				}));
		assertThat(seen).succeedsWithin(PATIENCE).isEqualTo(1);
	}

	/** Write while a later owner waits for the transaction. */
	private CompletableFuture<Integer> writeBefore(TestDatabase database, LockRequest next) {
		leasesExpire();
		CompletableFuture<Integer> later = inThread(
				() -> this.second.execute(next, (other) -> this.transaction.execute((begun) -> written())));
		Awaitility.await().atMost(PATIENCE).until(() -> database.waitsForRows() > 0);
		write();
		return later;
	}

}
