// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.TimeZone;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Leases and fencing tokens follow the clock of the database.
 */
class DatabaseClockTests {

	/** Shorter than the difference between two time zones. */
	private static final Duration LEASE_TIME = Duration.ofMinutes(10);

	@ParameterizedTest
	@ValueSource(strings = { "-1 year", "10 years" })
	void theDatabaseTellsTheTime(String difference) {
		LockKey key = LockKey.of("clock", difference);
		Instant now = Instant.now().atZone(ZoneOffset.UTC).plusYears(difference.startsWith("-") ? -1 : 10).toInstant();
		try (HikariDataSource pool = postgresWithClock(difference);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
			StoreClient client = new StoreClient(store);
			long base = grant(client, key);
			assertThat(Instant.EPOCH.plus(base + LockSql.EPOCH, ChronoUnit.MICROS))
				.isBetween(now.minus(Duration.ofDays(2)), now.plus(Duration.ofDays(2)));
			assertThat(client.acquire(key, OwnerToken.random(), LEASE_TIME, false))
				.isInstanceOf(AcquireResult.Refusal.class);
			setClock(difference, difference + " " + LEASE_TIME.toSeconds() + " seconds");
			assertThat(client.acquire(key, OwnerToken.random(), LEASE_TIME, false))
				.isInstanceOf(AcquireResult.Grant.class);
			assertThat(client.acquire(key, OwnerToken.random(), LEASE_TIME, false))
				.isInstanceOf(AcquireResult.Refusal.class);
		}
	}

	@Test
	void fencingTokensGrowAlthoughTheClockIsSetBack() {
		LockKey key = LockKey.of("clock", "set-back");
		OwnerToken owner = OwnerToken.random();
		long before;
		try (HikariDataSource ahead = postgresWithClock("10 years");
				JdbcLockStore store = new JdbcLockStore(ahead, TestDatabase.SETTINGS)) {
			StoreClient client = new StoreClient(store);
			before = ((AcquireResult.Grant) client.acquire(key, owner, LEASE_TIME, false)).fencingBase();
			client.release(key, owner);
		}
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
			assertThat(grant(new StoreClient(store), key)).isGreaterThan(before);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void theTimeZoneOfTheJvmDoesNotMatter(TestDatabase database) {
		LockKey key = LockKey.of("clock", database);
		TimeZone before = TimeZone.getDefault();
		try {
			inTimeZone("America/New_York", database, (client) -> grant(client, key));
			inTimeZone("Asia/Kolkata", database, (client) -> {
				AcquireResult.Refusal refusal = (AcquireResult.Refusal) client.acquire(key, OwnerToken.random(),
						LEASE_TIME, false);
				assertThat(LEASE_TIME).isGreaterThanOrEqualTo(refusal.remaining());
			});
			inTimeZone("Pacific/Auckland", database,
					(client) -> assertThat(client.renew(key, OwnerToken.random(), LEASE_TIME)).isFalse());
		}
		finally {
			TimeZone.setDefault(before);
		}
	}

	/** As daylight saving time does, while connections are open. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void theTimeZoneOfARunningJvmMayChange(TestDatabase database) {
		TimeZone before = TimeZone.getDefault();
		try (HikariDataSource pool = database.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
			mayChangeTheTimeZone(new StoreClient(store), LockKey.of("changed-zone", database));
		}
		finally {
			TimeZone.setDefault(before);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "H2" })
	void theTimeZoneOfARunningJvmMayChangeWithStandardSql(TestDatabase database) {
		TimeZone before = TimeZone.getDefault();
		try (HikariDataSource pool = database.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS, Dialect.GENERIC)) {
			mayChangeTheTimeZone(new StoreClient(store), LockKey.of("changed-zone-generic", database));
		}
		finally {
			TimeZone.setDefault(before);
		}
	}

	@Test
	void aClockWithoutATimeZoneIsRefused() {
		try (HikariDataSource pool = TestDatabase.MARIADB.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS, Dialect.GENERIC)) {
			StoreClient client = new StoreClient(store);
			assertThatExceptionOfType(UnusableStoreException.class)
				.isThrownBy(() -> client.acquire(LockKey.of("local-clock"), OwnerToken.random(), LEASE_TIME, false))
				.withMessageContaining("time zone");
		}
	}

	private static void mayChangeTheTimeZone(StoreClient client, LockKey key) {
		OwnerToken owner = OwnerToken.random();
		OwnerToken reader = OwnerToken.random(LockMode.READ);
		TimeZone.setDefault(TimeZone.getTimeZone("GMT+2"));
		long base = ((AcquireResult.Grant) client.acquire(key, owner, LEASE_TIME, false)).fencingBase();
		TimeZone.setDefault(TimeZone.getTimeZone("GMT+1"));
		assertThat(client.acquire(key, reader, LEASE_TIME, false)).isInstanceOf(AcquireResult.Refusal.class);
		assertThat(client.renew(key, owner, LEASE_TIME)).isTrue();
		client.release(key, owner);
		assertThat(((AcquireResult.Grant) client.acquire(key, reader, LEASE_TIME, false)).fencingBase())
			.isGreaterThan(base);
		TimeZone.setDefault(TimeZone.getTimeZone("GMT+2"));
		assertThat(client.renew(key, reader, LEASE_TIME)).isTrue();
		AcquireResult.Refusal refusal = (AcquireResult.Refusal) client.acquire(key, OwnerToken.random(), LEASE_TIME,
				false);
		assertThat(LEASE_TIME).isGreaterThanOrEqualTo(refusal.remaining());
	}

	private static void inTimeZone(String zone, TestDatabase database, Consumer<StoreClient> test) {
		TimeZone.setDefault(TimeZone.getTimeZone(zone));
		try (HikariDataSource pool = database.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
			test.accept(new StoreClient(store));
		}
	}

	private static HikariDataSource postgresWithClock(String difference) {
		TestDatabase.POSTGRESQL.jdbc().execute("create schema if not exists " + schema(difference));
		setClock(difference, difference);
		return TestDatabase.pool(
				TestDatabase.POSTGRESQL.url() + "&options=-csearch_path=" + schema(difference) + ",pg_catalog,public",
				3);
	}

	/** PostgreSQL finds this function before its own one. */
	private static void setClock(String name, String difference) {
		TestDatabase.POSTGRESQL.jdbc()
			.execute("create or replace function " + schema(name)
					+ ".clock_timestamp() returns timestamptz volatile language sql as"
					+ " 'select pg_catalog.clock_timestamp() + interval ''" + difference + "'''");
	}

	private static String schema(String difference) {
		return "clock" + difference.replaceAll("[^0-9]", "");
	}

	private static long grant(StoreClient client, LockKey key) {
		return ((AcquireResult.Grant) client.acquire(key, OwnerToken.random(), LEASE_TIME, false)).fencingBase();
	}

}
