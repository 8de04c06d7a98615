// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.pool.PoolMetrics;
import io.r2dbc.spi.ConnectionFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.fencing.FenceSchema;
import io.github.lockstarter.fencing.FencedR2dbcTransactionManager;
import io.github.lockstarter.fencing.FencingSettings;
import io.github.lockstarter.spring.EnableDistributedLocks;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The reactive transactions of late owners, which their databases refuse. The clock of
 * the store jumps, so the leases of owners expire without their knowledge.
 */
class FencedReactiveTransactionTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final EndlessLeases leases = new EndlessLeases();

	private final String key = UUID.randomUUID().toString();

	private final List<AnnotationConfigApplicationContext> instances = new ArrayList<>();

	private TestDatabase database;

	private ConnectionPool pool;

	/** With its own pool. */
	private Stock first;

	/** Opens a connection for each transaction. */
	private Stock second;

	@AfterEach
	void close() {
		this.instances.forEach(AnnotationConfigApplicationContext::close);
		this.pool.dispose();
	}

	private void use(TestDatabase database, int connections) throws Exception {
		this.database = database;
		String location = FenceSchema.LOCATION.replace("@@platform@@", FenceSchema.platform(database.unpooled()));
		DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(location)),
				database.unpooled());
		database.jdbc().execute("create table if not exists ledger (item varchar(80), amount int)");
		this.pool = new ConnectionPool(ConnectionPoolConfiguration.builder(database.reactive())
			.initialSize(0)
			.maxSize(connections)
			.maxAcquireTime(PATIENCE)
			.build());
		this.first = instance(this.pool);
		this.second = instance(database.reactive());
	}

	private Stock instance(ConnectionFactory connections) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		this.instances.add(context);
		context.registerBean(LockStore.class, this.leases::store);
		context.registerBean(FencingSettings.class, FencingSettings.DEFAULTS::withTransactions);
		context.registerBean(R2dbcTransactionManager.class, () -> new R2dbcTransactionManager(connections));
		context.register(Application.class, Stock.class);
		context.refresh();
		Stock stock = context.getBean(Stock.class);
		stock.use(connections, context.getBean(ReactiveTransactionManager.class), context.getBean(LockTemplate.class));
		return stock;
	}

	/** What another owner does after the leases have expired. */
	private Mono<?> overtake() {
		return Mono.defer(() -> {
			this.leases.expire();
			return this.second.locked(this.key, () -> this.second.write(this.key)).then(Mono.just(1));
		});
	}

	private int written() {
		return this.database.jdbc()
			.queryForObject("select count(*) from ledger where item = ?", Integer.class, this.key);
	}

	private int claims() {
		return this.database.jdbc()
			.queryForObject("select count(*) from distributed_lock_fence where lock_key like ?", Integer.class,
					"%" + this.key);
	}

	private static void assertRefused(Publisher<?> call) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> Flux.from(call).blockLast(PATIENCE))
			.withMessageContaining("a later owner has claimed");
	}

	private void untilAStatementWaits() {
		Awaitility.await().atMost(PATIENCE).until(() -> this.database.waitsForRows() > 0);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLateOwnerIsRefusedBeforeItsBodyIsSubscribed(TestDatabase database) throws Exception {
		use(database, 2);
		List<String> ran = new ArrayList<>();
		assertRefused(this.first.locked(this.key, () -> overtake()
			.then(this.first.transaction().transactional(Mono.fromRunnable(() -> ran.add("body"))))));
		assertThat(ran).isEmpty();
		assertThat(written()).isOne();
	}

	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void withoutFencingItIsNot(TestDatabase database) throws Exception {
		use(database, 2);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(
					() -> this.first.unfenced(this.key, () -> overtake().then(this.first.write(this.key))).blockLast())
			.withMessageContaining("at its release");
		assertThat(written()).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLaterOwnerWaitsForTheCommitOfAnEarlierOne(TestDatabase database) throws Exception {
		use(database, 2);
		CompletableFuture<Integer> later = new CompletableFuture<>();
		Mono<Void> compete = Mono.<Void>fromRunnable(() -> {
			this.leases.expire();
			this.second
				.locked(this.key, () -> this.second.transaction().transactional(Mono.fromCallable(this::written)))
				.subscribeOn(Schedulers.boundedElastic())
				.subscribe(later::complete, later::completeExceptionally);
			if (database != TestDatabase.H2) {
				untilAStatementWaits();
			}
			assertThat(later).isNotDone();
		}).subscribeOn(Schedulers.boundedElastic());
		this.first
			.uncomplaining(this.key,
					() -> this.first.transaction().transactional(compete.then(this.first.insert(this.key))))
			.blockLast(PATIENCE);
		assertThat(later).succeedsWithin(PATIENCE).isEqualTo(1);
	}

	/** A connection that stays behind would be the only one. */
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void noConnectionIsLeftBehind(TestDatabase database) throws Exception {
		use(database, 1);
		for (int i = 0; i < 3; i++) {
			assertRefused(this.first.locked(this.key, () -> overtake().then(this.first.write(this.key))));
			assertThat(metrics().acquiredSize()).isZero();
		}
		assertThat(written()).isEqualTo(3);
		this.first.insert(this.key).block(PATIENCE);
		assertThat(written()).as("commits automatically").isEqualTo(4);
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = "H2", mode = EnumSource.Mode.EXCLUDE)
	void norByACancellationWhileAClaimWaits(TestDatabase database) throws Exception {
		use(database, 1);
		whileClaimsWait(() -> {
			Disposable call = this.first.locked(this.key, () -> this.first.write(this.key)).subscribe();
			untilAStatementWaits();
			call.dispose();
		});
		untilAcquired(0);
		this.first.locked(this.key, () -> this.first.write(this.key)).blockLast(PATIENCE);
		assertThat(written()).isEqualTo(2);
	}

	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void norByOneOfAnInnerTransaction(TestDatabase database) throws Exception {
		use(database, 2);
		whileClaimsWait(() -> {
			Disposable call = this.first
				.locked(this.key,
						() -> this.first.reading()
							.transactional(this.first.count(this.key).then(this.first.writeAnew(this.key))))
				.subscribe();
			untilAStatementWaits();
			call.dispose();
		});
		untilAcquired(0);
		assertThat(written()).isOne();
	}

	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void aCancelledCallDoesNotWaitForAConnection(TestDatabase database) throws Exception {
		use(database, 1);
		io.r2dbc.spi.Connection lent = Mono.from(this.pool.create()).block(PATIENCE);
		Disposable call = this.first.locked(this.key, () -> this.first.write(this.key)).subscribe();
		Awaitility.await().until(() -> metrics().pendingAcquireSize() == 1);
		call.dispose();
		Awaitility.await().until(() -> metrics().pendingAcquireSize() == 0);
		Mono.from(lent.close()).block(PATIENCE);
		this.first.locked(this.key, () -> this.first.write(this.key)).blockLast(PATIENCE);
		assertThat(written()).isOne();
	}

	/** It waits for the connection of a transaction that is cancelled while it claims. */
	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void theNextTransactionOfAConnectionIsWhole(TestDatabase database) throws Exception {
		use(database, 1);
		String item = UUID.randomUUID().toString();
		CompletableFuture<Long> next = new CompletableFuture<>();
		whileClaimsWait(() -> {
			Disposable call = this.first.locked(this.key, () -> this.first.write(this.key)).subscribe();
			untilAStatementWaits();
			this.first.transaction()
				.transactional(this.first.insert(item)
					.then(this.first.count(item))
					.flatMap((count) -> Mono.<Long>error(new IllegalStateException(count + " rolled back"))))
				.subscribe(next::complete, next::completeExceptionally);
			Awaitility.await().until(() -> metrics().pendingAcquireSize() == 1);
			call.dispose();
		});
		assertThat(next).failsWithin(PATIENCE).withThrowableThat().withMessageContaining("1 rolled back");
		assertThat(this.first.count(item).block(PATIENCE)).isZero();
		assertThat(written()).isOne();
	}

	/** Spring resumes it after a failure, but not after a cancellation. */
	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void anOuterTransactionThatGoesOnAfterACancellationIsWhole(TestDatabase database) throws Exception {
		use(database, 3);
		String item = UUID.randomUUID().toString();
		CompletableFuture<Long> outer = new CompletableFuture<>();
		whileClaimsWait(() -> {
			Sinks.Empty<Void> cancellation = Sinks.empty();
			Flux<Long> inner = this.first.locked(this.key, () -> this.first.writeAnew(this.key));
			this.first.transaction()
				.transactional(this.first.insert(item)
					.then(inner.takeUntilOther(cancellation.asMono()).then())
					.then(this.first.insert(item)))
				.subscribe(outer::complete, outer::completeExceptionally);
			untilAStatementWaits();
			cancellation.tryEmitEmpty();
		});
		assertThat(outer).failsWithin(PATIENCE)
			.withThrowableThat()
			.withMessageContaining("An inner transaction was cancelled while it began");
		assertThat(this.first.count(item).block(PATIENCE)).isZero();
		untilAcquired(0);
	}

	/** Another transaction has claimed, and does not end before the action. */
	private void whileClaimsWait(Runnable action) throws Exception {
		this.first.locked(this.key, () -> this.first.write(this.key)).blockLast(PATIENCE);
		try (Connection other = this.database.unpooled().getConnection()) {
			other.setAutoCommit(false);
			other.createStatement()
				.executeUpdate(
						"update distributed_lock_fence set claimed_at = 0 where lock_key like '%" + this.key + "'");
			action.run();
			other.rollback();
		}
	}

	private void untilAcquired(int connections) {
		Awaitility.await().atMost(PATIENCE).until(() -> metrics().acquiredSize() == connections);
	}

	private PoolMetrics metrics() {
		return this.pool.getMetrics().orElseThrow();
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = "H2", mode = EnumSource.Mode.EXCLUDE)
	void parallelTransactionsOfOneLeaseDoNotWait(TestDatabase database) throws Exception {
		use(database, 3);
		Sinks.One<Boolean> oneIsOpen = Sinks.one();
		Sinks.One<Boolean> otherIsOpen = Sinks.one();
		this.first
			.locked(this.key,
					() -> Flux.merge(writeTogether(oneIsOpen, otherIsOpen), writeTogether(otherIsOpen, oneIsOpen)))
			.blockLast(PATIENCE);
		assertThat(written()).isEqualTo(2);
	}

	private Mono<Boolean> writeTogether(Sinks.One<Boolean> mine, Sinks.One<Boolean> other) {
		return this.first.transaction().transactional(this.first.insert(this.key).flatMap((count) -> {
			mine.tryEmitValue(true);
			return other.asMono();
		}));
	}

	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void anInnerTransactionDoesNotWaitForItsOuterOne(TestDatabase database) throws Exception {
		use(database, 2);
		this.first
			.locked(this.key,
					() -> this.first.transaction()
						.transactional(this.first.writeAnew(this.key)
							.then(this.first.insert(this.key))
							.then(this.first.locked(this.key, () -> this.first.writeAnew(this.key)).next())))
			.blockLast(PATIENCE);
		assertThat(written()).isEqualTo(3);
		assertRefused(this.first.locked(this.key,
				() -> this.first.transaction()
					.transactional(this.first.writeAnew(this.key))
					.then(overtake())
					.then(this.first.write(this.key))));
	}

	/** The outer transaction only reads, so it has not claimed. */
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void anOuterTransactionGoesOnAfterARefusal(TestDatabase database) throws Exception {
		use(database, 2);
		List<Throwable> refusals = new ArrayList<>();
		this.first.uncomplaining(this.key, () -> this.first.reading()
			.transactional(overtake().then(this.first.writeAnew(this.key).onErrorResume((refusal) -> {
				refusals.add(refusal);
				return this.first.count(this.key);
			})))).blockLast(PATIENCE);
		assertThat(refusals).singleElement().isInstanceOf(LockLostException.class);
		assertThat(metrics().acquiredSize()).isZero();
	}

	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void aSavepointIsPartOfItsTransaction(TestDatabase database) throws Exception {
		use(database, 1);
		TransactionalOperator nested = this.first.transaction(TransactionDefinition.PROPAGATION_NESTED);
		this.first
			.locked(this.key, () -> this.first.transaction()
				.transactional(this.first.insert(this.key).then(nested.transactional(this.first.insert(this.key)))))
			.blockLast(PATIENCE);
		assertThat(written()).isEqualTo(2);
		assertThat(claims()).isOne();
	}

	/** The savepoint is part of a transaction that has begun before the lock. */
	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void anInnerTransactionOfASavepointClaims(TestDatabase database) throws Exception {
		use(database, 2);
		TransactionalOperator nested = this.first.transaction(TransactionDefinition.PROPAGATION_NESTED);
		this.first.transaction()
			.transactional(
					this.first.locked(this.key, () -> nested.transactional(this.first.writeAnew(this.key))).next())
			.block(PATIENCE);
		assertThat(written()).isOne();
		assertThat(claims()).isOne();
	}

	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void aTransactionThatOnlyReadsClaimsNothing(TestDatabase database) throws Exception {
		use(database, 1);
		this.first.locked(this.key, () -> this.first.reading().transactional(this.first.count(this.key)))
			.blockLast(PATIENCE);
		assertThat(claims()).isZero();
	}

	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void aTransactionWithoutALockClaimsNothing(TestDatabase database) throws Exception {
		use(database, 1);
		this.first.locked(this.key, () -> Mono.just(1)).then(this.first.write(this.key)).block(PATIENCE);
		assertThat(written()).isOne();
		assertThat(claims()).isZero();
	}

	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void allLocksOfAChainAreClaimed(TestDatabase database) throws Exception {
		use(database, 2);
		String other = UUID.randomUUID().toString();
		assertRefused(this.first.locked(this.key,
				() -> this.first.locked(other, () -> overtake().then(this.first.write(this.key)))));
		assertRefused(this.first.locked(other,
				() -> this.first.locked(this.key, () -> overtake().then(this.first.write(this.key)))));
		assertRefused(this.first.both(this.key, other, () -> overtake().then(this.first.write(this.key))));
		assertThat(written()).isEqualTo(3);
	}

	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void readersCheckAndDoNotClaim(TestDatabase database) throws Exception {
		use(database, 3);
		this.first.locked(this.key, () -> this.first.write(this.key)).blockLast(PATIENCE);
		Sinks.One<Boolean> oneIsOpen = Sinks.one();
		Sinks.One<Boolean> otherIsOpen = Sinks.one();
		Flux.merge(this.first.reader(this.key, () -> writeTogether(oneIsOpen, otherIsOpen)),
				this.first.reader(this.key, () -> writeTogether(otherIsOpen, oneIsOpen)))
			.blockLast(PATIENCE);
		assertThat(written()).isEqualTo(3);
		assertRefused(this.first.reader(this.key, () -> overtake().then(this.first.write(this.key))));
	}

	/** None has created the row of the claims before. */
	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void firstReadersDoNotWaitForEachOther(TestDatabase database) throws Exception {
		int readers = 6;
		use(database, readers);
		Sinks.One<Boolean> allAreOpen = Sinks.one();
		AtomicInteger open = new AtomicInteger();
		Flux.range(0, readers)
			.flatMap((i) -> this.first.reader(this.key, () -> this.first.transaction().transactional(Mono.defer(() -> {
				if (open.incrementAndGet() == readers) {
					allAreOpen.tryEmitValue(true);
				}
				return allAreOpen.asMono();
			}))), readers)
			.blockLast(PATIENCE);
		assertThat(open).hasValue(readers);
		assertThat(claims()).isOne();
	}

	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "MARIADB")
	void firstReadersOfManyLocksDoNotDeadlock(TestDatabase database) throws Exception {
		use(database, 8);
		Flux.range(0, 120)
			.flatMap((i) -> this.first.reader(this.key + i, () -> this.first.write(this.key))
				.subscribeOn(Schedulers.boundedElastic()), 120)
			.blockLast(PATIENCE);
		assertThat(written()).isEqualTo(120);
	}

	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void aLateFirstReaderIsRefused(TestDatabase database) throws Exception {
		use(database, 2);
		assertRefused(this.first.reader(this.key, () -> overtake().then(this.first.write(this.key))));
		assertThat(written()).isOne();
	}

	/** The transaction begins on the thread that holds the lock. */
	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void soIsThatOfABlockingBody(TestDatabase database) throws Exception {
		use(database, 2);
		LockRequest request = LockRequest.of("stock", this.key);
		this.first.template().execute(request, (lease) -> this.first.write(this.key).block(PATIENCE));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.first.template().execute(request, (lease) -> {
				overtake().block(PATIENCE);
				return this.first.write(this.key).block(PATIENCE);
			}))
			.withMessageContaining("a later owner has claimed");
	}

	/** The rows are new and lie beside each other, where some databases lock gaps. */
	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void firstClaimsOfManyLocksDoNotDeadlock(TestDatabase database) throws Exception {
		use(database, 8);
		Flux.range(0, 64)
			.flatMap((i) -> this.first.locked(this.key + i, () -> this.first.write(this.key))
				.subscribeOn(Schedulers.boundedElastic()), 64)
			.blockLast(PATIENCE);
		assertThat(written()).isEqualTo(64);
	}

	@EnableDistributedLocks
	static class Application {

	}

	static class Stock {

		private DatabaseClient client;

		private ReactiveTransactionManager manager;

		private LockTemplate template;

		void use(ConnectionFactory connections, ReactiveTransactionManager manager, LockTemplate template) {
			assertThat(manager).isInstanceOf(FencedR2dbcTransactionManager.class);
			this.client = DatabaseClient.create(connections);
			this.manager = manager;
			this.template = template;
		}

		@DistributedLock(name = "stock", key = "#key")
		public <T> Flux<T> locked(String key, Supplier<Publisher<T>> body) {
			return Flux.from(body.get());
		}

		@DistributedLock(name = "stock", key = "#key")
		@DistributedLock(name = "stock", key = "#other")
		public <T> Flux<T> both(String key, String other, Supplier<Publisher<T>> body) {
			return Flux.from(body.get());
		}

		@DistributedLock(name = "stock", key = "#key", mode = LockMode.READ)
		public <T> Flux<T> reader(String key, Supplier<Publisher<T>> body) {
			return Flux.from(body.get());
		}

		@DistributedLock(name = "stock", key = "#key", transactionFencing = TransactionFencing.OFF)
		public <T> Flux<T> unfenced(String key, Supplier<Publisher<T>> body) {
			return Flux.from(body.get());
		}

		@DistributedLock(name = "stock", key = "#key", onLost = OnLost.LOG, transactionFencing = TransactionFencing.ON)
		public <T> Flux<T> uncomplaining(String key, Supplier<Publisher<T>> body) {
			return Flux.from(body.get());
		}

		LockTemplate template() {
			return this.template;
		}

		TransactionalOperator transaction() {
			return transaction(TransactionDefinition.PROPAGATION_REQUIRED);
		}

		TransactionalOperator transaction(int propagation) {
			return TransactionalOperator.create(this.manager, new DefaultTransactionDefinition(propagation));
		}

		TransactionalOperator reading() {
			DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
			definition.setReadOnly(true);
			return TransactionalOperator.create(this.manager, definition);
		}

		Mono<Long> write(String item) {
			return transaction().transactional(insert(item));
		}

		Mono<Long> writeAnew(String item) {
			return transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW).transactional(insert(item));
		}

		Mono<Long> insert(String item) {
			return this.client.sql("insert into ledger values ('" + item + "', 1)").fetch().rowsUpdated();
		}

		Mono<Long> count(String item) {
			return this.client.sql("select count(*) from ledger where item = '" + item + "'")
				.mapValue(Long.class)
				.one();
		}

	}

}
