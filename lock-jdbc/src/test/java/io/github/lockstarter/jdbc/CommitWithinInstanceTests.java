// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A transaction keeps other owners out until it has ended, also those of its own JVM.
 */
@Tag("clock")
class CommitWithinInstanceTests {

	private static final LockRequest REQUEST = LockRequest.of("within").withWaitTime(Duration.ofSeconds(20));

	private final AtomicBoolean checked = new AtomicBoolean();

	private final AtomicBoolean granted = new AtomicBoolean();

	/** The lease was handed over within this JVM, which times it. */
	@Test
	void theNextOwnerWaitsForTheCommitOfALeaseThatExpiresDuringIt() throws Exception {
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(5);
				HikariDataSource application = TestDatabase.POSTGRESQL.pool(2);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS, application);
				DefaultLockRegistry registry = new DefaultLockRegistry(store)) {
			TransactionTemplate transactions = new TransactionTemplate(new DataSourceTransactionManager(application));
			JdbcTemplate jdbc = new JdbcTemplate(application);
			jdbc.execute("create table within_instance (sold int)");
			Lease first = registry.acquire(REQUEST);
			Call<Boolean> second = Callers.start(() -> {
				// Long enough for the check, even if the machine stands still before it
				Lease lease = registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(2)));
				transactions.executeWithoutResult((transaction) -> {
					jdbc.update("insert into within_instance values (1)");
					lease.ensureHeldAtCommit();
					this.checked.set(true);
					// The commit takes a while
					Awaitility.await().until(() -> !lease.isHeld());
					Awaitility.await().until(() -> this.granted.get() || TestDatabase.POSTGRESQL.waitsForRows() > 0);
				});
				return this.granted.get();
			}).awaitParked();
			Call<Integer> third = Callers.start(() -> {
				try (Lease lease = registry.acquire(REQUEST)) {
					this.granted.set(true);
					// What the next owner sees counts, not which thread is first to say
					// so
					return rows();
				}
			}).awaitParked();
			first.close();
			second.get();
			assertThat(this.checked).isTrue();
			assertThat(third.get()).isOne();
		}
	}

	private static int rows() {
		return TestDatabase.POSTGRESQL.jdbc().queryForList("select * from within_instance").size();
	}

}
