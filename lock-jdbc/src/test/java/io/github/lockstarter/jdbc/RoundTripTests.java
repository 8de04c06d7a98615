// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a lock that nobody else wants costs: statements that are transactions of their
 * own.
 */
class RoundTripTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(20);

	private final OwnerToken owner = OwnerToken.random();

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 1, 1", "MARIADB, 3, 1", "H2, 3, 1" })
	void aFreeLock(TestDatabase database, int first, int later) {
		LockKey key = LockKey.of("round-trips", database);
		try (HikariDataSource pool = database.pool(3)) {
			CountedStatements statements = new CountedStatements(pool);
			try (JdbcLockStore store = new JdbcLockStore(statements, TestDatabase.SETTINGS)) {
				StoreClient client = new StoreClient(store);
				client.acquire(key, this.owner, LEASE_TIME, true);
				assertThat(statements.take()).hasSize(first);
				client.release(key, this.owner);
				assertThat(statements.take()).hasSize(1);
				client.acquire(key, OwnerToken.random(), LEASE_TIME, true);
				assertThat(statements.take()).hasSize(later);
			}
		}
	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL", "MARIADB", "H2" })
	void oneTransactionRenewsAllReaders(TestDatabase database) {
		List<LeaseRequest> leases = IntStream.range(0, 20)
			.mapToObj((i) -> new LeaseRequest(LockKey.of("read-together-" + database, i / 2),
					OwnerToken.random(LockMode.READ), LEASE_TIME))
			.toList();
		assertThat(renewalOf(leases, database)).hasSize(12).containsOnlyOnce("commit");
	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL", "MARIADB", "H2" })
	void oneStatementRenewsAllLeases(TestDatabase database) {
		List<LeaseRequest> leases = IntStream.range(0, 20)
			.mapToObj((i) -> new LeaseRequest(LockKey.of("renewed-together-" + database, i), OwnerToken.random(),
					LEASE_TIME))
			.toList();
		assertThat(renewalOf(leases, database)).hasSize(1);
	}

	/** Return the statements. */
	private static List<String> renewalOf(List<LeaseRequest> leases, TestDatabase database) {
		try (HikariDataSource pool = database.pool(3)) {
			CountedStatements statements = new CountedStatements(pool);
			try (JdbcLockStore store = new JdbcLockStore(statements, TestDatabase.SETTINGS)) {
				leases.forEach((lease) -> store.acquire(lease, false));
				statements.take();
				assertThat(store.renew(leases))
					.allSatisfy((renewed) -> assertThat(renewed.toCompletableFuture()).isCompletedWithValue(true));
				return statements.take();
			}
		}
	}

	@Test
	void aChangeIsSentWithItsMessageAndItsCommit() {
		LockKey key = LockKey.of("round-trips", "handed-over");
		// A waiter needs one connection to listen, and one to send itself a message
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(9)) {
			CountedStatements statements = new CountedStatements(pool);
			try (JdbcLockStore counted = new JdbcLockStore(statements, TestDatabase.SETTINGS);
					JdbcLockStore second = new JdbcLockStore(pool, TestDatabase.SETTINGS);
					JdbcLockStore third = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
				OwnerToken before = OwnerToken.random();
				new StoreClient(second).acquire(key, before, LEASE_TIME, true);
				new StoreClient(counted).acquire(key, this.owner, LEASE_TIME, true);
				new StoreClient(third).acquire(key, OwnerToken.random(), LEASE_TIME, true);
				new StoreClient(second).release(key, before);
				statements.take();
				new StoreClient(counted).acquire(key, this.owner, LEASE_TIME, true);
				assertThat(changes(statements)).hasSize(2).last(InstanceOfAssertFactories.STRING).endsWith("; commit");
				new StoreClient(counted).release(key, this.owner);
				assertThat(changes(statements)).hasSize(2)
					.last(InstanceOfAssertFactories.STRING)
					.contains("pg_notify")
					.endsWith("; commit");
			}
		}
	}

	/** Without messages and looks at the line, which have a thread of their own. */
	private static List<String> changes(CountedStatements statements) {
		return statements.take()
			.stream()
			.filter((statement) -> statement.contains("distributed_lock") && !statement.startsWith("select lock_key"))
			.toList();
	}

}
