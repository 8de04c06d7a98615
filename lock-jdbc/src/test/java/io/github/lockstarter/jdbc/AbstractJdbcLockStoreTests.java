// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.RowKey;
import io.github.lockstarter.test.AbstractCapableLockStoreTests;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract in a database. A test lets time pass for a row by setting its times back.
 */
abstract class AbstractJdbcLockStoreTests extends AbstractCapableLockStoreTests {

	private static final SignalTimes TIMES = new SignalTimes(SignalTimes.DEFAULTS.idle(), SignalTimes.DEFAULTS.test(),
			SignalTimes.DEFAULTS.untested(), SignalTimes.DEFAULTS.waited(), RESERVATION);

	private static final String TABLE = TestDatabase.SETTINGS.table();

	/** The connections for all tests of one class. */
	private static @Nullable HikariDataSource pool;

	private final JdbcLockSettings settings;

	private final HikariDataSource source;

	private final @Nullable Dialect dialect;

	AbstractJdbcLockStoreTests(TestDatabase database, JdbcLockSettings settings) {
		this(database, settings, null);
	}

	AbstractJdbcLockStoreTests(TestDatabase database, JdbcLockSettings settings, @Nullable Dialect dialect) {
		this.settings = settings;
		this.source = (pool != null) ? pool : database.pool(60);
		this.dialect = dialect;
		pool = this.source;
	}

	@AfterAll
	static void closePool() {
		if (pool != null) {
			pool.close();
			pool = null;
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "EXCLUSIVE", "READ" })
	void theFencingBaseGrowsAlthoughTheClockOfTheDatabaseIsSetBack(LockMode mode) {
		OwnerToken first = OwnerToken.random(mode);
		this.one.client().acquire(this.key, first, LEASE_TIME, false);
		this.one.client().release(this.key, first);
		long ahead = 1L << 50;
		update("fence = ?", ahead, this.key);
		assertThat(this.one.client().acquire(this.key, OwnerToken.random(mode), LEASE_TIME, false))
			.isInstanceOfSatisfying(AcquireResult.Grant.class,
					(grant) -> assertThat(grant.fencingBase()).isEqualTo(ahead + 1));
	}

	@Test
	void theLongestNameOfAnInstanceFits() {
		OwnerToken owner = OwnerToken.random("o".repeat(64), LockMode.EXCLUSIVE);
		assertThat(this.one.client().acquire(this.key, owner, LEASE_TIME, false))
			.isInstanceOf(AcquireResult.Grant.class);
		assertThat(this.one.client().keep(this.key, owner, LEASE_TIME)).isTrue();
	}

	@Override
	protected LockStore createStore() {
		return new JdbcLockStore(this.source, this.source, this.settings, this.dialect, TIMES);
	}

	@Override
	protected void expire(LockKey key, OwnerToken owner) {
		if (owner.mode() == LockMode.READ) {
			setBack(key, (line) -> line.startsWith(owner.value()), LEASE_TIME);
			update("expires_at = ?", Readers.read(line(key)).lastEnd(), key);
		}
		else {
			update("expires_at = expires_at - ?", TimeUnit.MICROSECONDS.convert(LEASE_TIME), key);
		}
	}

	@Override
	protected void endReservation(LockKey key) {
		// It is a little longer while a JVM polls
		setBack(key, (line) -> !LineEntry.readAll(line).isEmpty(), RESERVATION.multipliedBy(2));
	}

	/**
	 * Set back the last field, which is a time, in some lines of a row.
	 */
	private void setBack(LockKey key, Predicate<String> lines, Duration time) {
		String changed = line(key).lines().map((line) -> {
			int last = line.lastIndexOf(' ') + 1;
			long field = Long.parseLong(line.substring(last)) - TimeUnit.MICROSECONDS.convert(time);
			return lines.test(line) ? line.substring(0, last) + field : line;
		}).collect(Collectors.joining("\n"));
		update("line = ?", changed, key);
	}

	private String line(LockKey key) {
		return Objects.requireNonNull(new JdbcTemplate(this.source)
			.queryForObject("select line from " + TABLE + " where lock_key = ?", String.class, RowKey.of(key)));
	}

	private void update(String change, Object value, LockKey key) {
		new JdbcTemplate(this.source).update("update " + TABLE + " set " + change + " where lock_key = ?", value,
				RowKey.of(key));
	}

}
