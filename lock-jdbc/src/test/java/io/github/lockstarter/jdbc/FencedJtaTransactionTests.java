// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.security.NamePrincipal;
import io.agroal.narayana.NarayanaTransactionIntegration;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionSynchronizationRegistry;
import jakarta.transaction.UserTransaction;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.xa.PGXADataSource;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.fencing.FenceSchema;
import io.github.lockstarter.fencing.FenceTable;
import io.github.lockstarter.fencing.TransactionFence;
import io.github.lockstarter.transaction.LockCommitGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Claims in JTA transactions with one resource: Narayana, and connections to PostgreSQL
 * that take part in its transactions.
 */
class FencedJtaTransactionTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final EndlessLeases leases = new EndlessLeases();

	private final LockTemplate first = new LockTemplate(this.leases.instance());

	private final LockTemplate second = new LockTemplate(this.leases.instance());

	/** Does not complain at the release that the lease was over. */
	private final LockTemplate uncomplaining = this.first.withOnLost(OnLost.LOG)
		.withTransactionFencing(TransactionFencing.ON);

	private final LockRequest request = LockRequest.of("stock", UUID.randomUUID());

	private final JdbcClient looking = JdbcClient.create(TestDatabase.POSTGRESQL.unpooled());

	private AgroalDataSource pool;

	private JdbcClient jdbc;

	private JtaTransactionManager manager;

	private TransactionTemplate transaction;

	@BeforeEach
	void use() throws Exception {
		DatabasePopulatorUtils.execute(
				new ResourceDatabasePopulator(new DefaultResourceLoader()
					.getResource(FenceSchema.LOCATION.replace("@@platform@@", "postgresql"))),
				TestDatabase.POSTGRESQL.unpooled());
		this.looking.sql("create table if not exists ledger (item varchar(80), amount int)").update();
		TransactionManager transactions = com.arjuna.ats.jta.TransactionManager.transactionManager();
		UserTransaction user = com.arjuna.ats.jta.UserTransaction.userTransaction();
		this.manager = new JtaTransactionManager(user, transactions);
		this.manager.afterPropertiesSet();
		this.pool = pool(transactions,
				new com.arjuna.ats.internal.jta.transaction.arjunacore.TransactionSynchronizationRegistryImple());
		this.jdbc = JdbcClient.create(this.pool);
		this.manager.addListener(new LockCommitGuard());
		this.manager.addListener(new TransactionFence(this.manager, new FenceTable(this.pool)));
		this.transaction = new TransactionTemplate(this.manager);
	}

	private static AgroalDataSource pool(TransactionManager transactions, TransactionSynchronizationRegistry registry)
			throws Exception {
		return AgroalDataSource
			.from(new AgroalDataSourceConfigurationSupplier().connectionPoolConfiguration((pool) -> pool.maxSize(2)
				.acquisitionTimeout(Duration.ofSeconds(10))
				.transactionIntegration(new NarayanaTransactionIntegration(transactions, registry))
				.connectionFactoryConfiguration(
						(connections) -> connections.connectionProviderClass(PGXADataSource.class)
							.jdbcUrl(TestDatabase.POSTGRESQL.url())
							.principal(new NamePrincipal("postgres")))));
	}

	@AfterEach
	void close() {
		this.leases.close();
		this.pool.close();
	}

	private int write() {
		return this.jdbc.sql("insert into ledger values (?, 1)").param(this.request.key().text()).update();
	}

	private int written() {
		return this.looking.sql("select count(*) from ledger where item = ?")
			.param(this.request.key().text())
			.query(Integer.class)
			.single();
	}

	private void overtake() {
		this.leases.expire();
		CompletableFuture
			.runAsync(() -> this.second.execute(this.request, (lease) -> this.transaction.execute((status) -> write())))
			.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
			.join();
	}

	@Test
	void theClaimIsPartOfTheTransaction() {
		this.first.executeWithoutResult(this.request, (lease) -> this.transaction.executeWithoutResult((status) -> {
			write();
			status.setRollbackOnly();
		}));
		assertThat(claims()).isZero();
		this.first.execute(this.request, (lease) -> this.transaction.execute((status) -> write()));
		assertThat(claims()).isOne();
		assertThat(written()).isOne();
	}

	private int claims() {
		return this.looking.sql("select count(*) from distributed_lock_fence where lock_key like ?")
			.param("%" + this.request.key().text())
			.query(Integer.class)
			.single();
	}

	/** More often than the pool has connections. */
	@Test
	void aLateOwnerIsRefusedAndLeavesNothing() throws Exception {
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.first.execute(this.request, (lease) -> {
					overtake();
					return this.transaction.execute((status) -> write());
				}))
				.withMessageContaining("a later owner has claimed");
			assertThat(this.manager.getTransactionManager().getTransaction()).isNull();
			assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
			assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		}
		assertThat(this.pool.getMetrics().activeCount()).isZero();
		assertThat(written()).isEqualTo(3);
	}

	@Test
	void aLaterOwnerWaits() {
		CompletableFuture<Integer> later = this.uncomplaining.execute(this.request,
				(lease) -> this.transaction.execute((status) -> {
					this.leases.expire();
					CompletableFuture<Integer> seen = CompletableFuture.supplyAsync(() -> this.second
						.execute(this.request, (other) -> this.transaction.execute((begun) -> written())));
					Awaitility.await().atMost(PATIENCE).until(() -> TestDatabase.POSTGRESQL.waitsForRows() > 0);
					write();
					assertThat(seen).isNotDone();
					return seen;
				}));
		assertThat(later).succeedsWithin(PATIENCE).isEqualTo(1);
	}

	@Test
	void anInnerTransactionDoesNotWaitForItsOuterOne() {
		TransactionTemplate inner = new TransactionTemplate(this.manager);
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		assertThat(CompletableFuture.supplyAsync(() -> this.first.execute(this.request,
				(lease) -> this.transaction.execute((status) -> write() + inner.execute((begun) -> write())))))
			.succeedsWithin(PATIENCE)
			.isEqualTo(2);
		assertThat(written()).isEqualTo(2);
	}

}
