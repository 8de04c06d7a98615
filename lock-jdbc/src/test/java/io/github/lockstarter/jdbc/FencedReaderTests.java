// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
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
import io.github.lockstarter.fencing.FenceSchema;
import io.github.lockstarter.fencing.FenceTable;
import io.github.lockstarter.fencing.TransactionFence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The fenced transactions of readers, of whose lock the table of claims has no row yet.
 */
class FencedReaderTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final EndlessLeases leases = new EndlessLeases();

	private final LockTemplate first = new LockTemplate(this.leases.instance());

	private final LockTemplate second = new LockTemplate(this.leases.instance());

	/** Does not complain at the release that the lease was over. */
	private final LockTemplate uncomplaining = this.first.withOnLost(OnLost.LOG)
		.withTransactionFencing(TransactionFencing.ON);

	private final LockRequest reader = LockRequest.of("stock", UUID.randomUUID()).withMode(LockMode.READ);

	private final LockRequest writer = this.reader.withMode(LockMode.WRITE);

	private HikariDataSource pool;

	private TransactionTemplate transaction;

	private JdbcClient jdbc;

	@AfterEach
	void close() {
		this.leases.close();
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
	@CsvSource({ "POSTGRESQL, 2", "MARIADB, 4" })
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
	@CsvSource({ "POSTGRESQL, 2", "MARIADB, 4", "H2, 2" })
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
					this.leases.expire();
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

	@Test
	void aLateFirstReaderIsRefused() throws Exception {
		use(TestDatabase.H2);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.first.execute(this.reader, (lease) -> {
			this.leases.expire();
			assertThat(inThread(
					() -> this.second.execute(this.writer, (later) -> this.transaction.execute((status) -> write()))))
				.succeedsWithin(PATIENCE);
			return this.transaction.execute((status) -> write());
		})).withMessageContaining("a later owner has claimed");
		assertThat(written()).isOne();
	}

	@Test
	void readersOfALockThatWasClaimedDoNotWaitForEachOther() throws Exception {
		use(TestDatabase.POSTGRESQL);
		this.first.execute(this.writer, (lease) -> this.transaction.execute((status) -> write()));
		CyclicBarrier bothAreOpen = new CyclicBarrier(2);
		inThreads(2, (i) -> ((i == 0) ? this.first : this.second).execute(this.reader,
				(lease) -> this.transaction.execute((status) -> await(bothAreOpen))));
	}

	/** The writer is late, but its transaction began before. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 4", "MARIADB, 4" })
	void aReaderSeesWhatAnEarlierWriterHasCommitted(TestDatabase database, int isolation) throws Exception {
		use(database, isolation);
		this.first.execute(this.reader, (lease) -> this.transaction.execute((status) -> written()));
		CompletableFuture<Integer> seen = this.uncomplaining.execute(this.writer,
				(lease) -> this.transaction.execute((status) -> {
					this.leases.expire();
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
	@CsvSource({ "POSTGRESQL, 4", "MARIADB, 4", "H2, 4" })
	void aWriterSeesWhatAnEarlierReaderHasCommitted(TestDatabase database, int isolation) throws Exception {
		use(database, isolation);
		CompletableFuture<Integer> seen = this.uncomplaining.execute(this.reader,
				(lease) -> this.transaction.execute((status) -> writeBefore(database, this.writer)));
		assertThat(seen).succeedsWithin(PATIENCE).isEqualTo(1);
	}

	/** The rollback has restored the row for which the later owner has waited. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 4, WRITE", "POSTGRESQL, 4, READ", "MARIADB, 4, WRITE", "H2, 4, WRITE" })
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
		this.leases.expire();
		CompletableFuture<Integer> later = inThread(
				() -> this.second.execute(next, (other) -> this.transaction.execute((begun) -> written())));
		Awaitility.await().atMost(PATIENCE).until(() -> database.waitsForRows() > 0);
		write();
		return later;
	}

}
