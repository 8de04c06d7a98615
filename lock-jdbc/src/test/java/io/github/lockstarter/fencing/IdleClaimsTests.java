// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.github.lockstarter.servers.SharedServers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Claims of idle locks are deleted.
 */
class IdleClaimsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	private final AtomicReference<Instant> now = new AtomicReference<>(START);

	private HikariDataSource pool;

	private JdbcTemplate jdbc;

	private FenceTable table;

	private void use(Database database) throws Exception {
		this.pool = new HikariDataSource();
		this.pool.setJdbcUrl(database.database.get());
		this.jdbc = new JdbcTemplate(this.pool);
		DatabasePopulatorUtils.execute(
				new ResourceDatabasePopulator(new DefaultResourceLoader()
					.getResource(FenceSchema.LOCATION.replace("@@platform@@", FenceSchema.platform(this.pool)))),
				this.pool);
		this.table = new FenceTable(this.pool, FenceTable.DEFAULT_NAME, Duration.ofHours(1), clock());
	}

	@AfterEach
	void close() {
		this.pool.close();
	}

	private Clock clock() {
		return new Clock() {

			@Override
			public ZoneId getZone() {
				return ZoneOffset.UTC;
			}

			@Override
			public Clock withZone(ZoneId zone) {
				return this;
			}

			@Override
			public Instant instant() {
				return IdleClaimsTests.this.now.get();
			}

		};
	}

	private void claim(String key) throws Exception {
		try (Connection connection = this.pool.getConnection()) {
			assertThat(this.table.statements(connection).claim(key, 1)).isTrue();
		}
	}

	/** The clock of the database decides, which has written the time of a claim. */
	private void claimedBefore(Duration time) throws Exception {
		claim("now");
		Long now = this.jdbc.queryForObject("select claimed_at from distributed_lock_fence where lock_key = 'now'",
				Long.class);
		this.jdbc.update("delete from distributed_lock_fence where lock_key = 'now'");
		this.jdbc.update("update distributed_lock_fence set claimed_at = ? - ?", now, time.toMillis());
	}

	/** A JVM whose clock is wrong deletes nothing that others have just claimed. */
	@ParameterizedTest
	@EnumSource
	void theClockOfAJvmDoesNotMatter(Database database) throws Exception {
		use(database);
		claim("claimed");
		this.now.set(START.plus(Duration.ofDays(365)));
		delete();
		assertThat(rows()).isOne();
	}

	private int rows() {
		Integer rows = this.jdbc.queryForObject("select count(*) from distributed_lock_fence", Integer.class);
		return (rows != null) ? rows : 0;
	}

	/** More than are deleted at once. */
	@ParameterizedTest
	@EnumSource
	void idleClaimsAreDeletedInTheBackground(Database database) throws Exception {
		use(database);
		this.jdbc.batchUpdate("insert into distributed_lock_fence (lock_key, token, claimed_at) values (?, 1, 0)",
				IntStream.range(0, 2500).mapToObj((i) -> new Object[] { "idle" + i }).toList());
		claimedBefore(Duration.ofMinutes(30));
		delete();
		assertThat(rows()).isEqualTo(2500);
		claimedBefore(Duration.ofHours(2));
		this.now.set(START.plus(Duration.ofMinutes(61)));
		claim("late");
		Awaitility.await().atMost(PATIENCE).until(() -> rows() == 1);
		claim("late");
	}

	@ParameterizedTest
	@EnumSource
	void whatWasClaimedMeanwhileIsNot(Database database) throws Exception {
		use(database);
		claim("idle");
		claim("claimed");
		claimedBefore(Duration.ofHours(2));
		CompletableFuture<Void> deletion;
		try (Connection connection = this.pool.getConnection()) {
			connection.setAutoCommit(false);
			assertThat(new FenceStatements(connection, this.pool, this.table.sql(connection)).claim("claimed", 2))
				.isTrue();
			deletion = CompletableFuture.runAsync(this::delete);
			Awaitility.await().atMost(PATIENCE).until(() -> waits(database) > 0);
			connection.commit();
		}
		assertThat(deletion).succeedsWithin(PATIENCE);
		assertThat(this.jdbc.queryForList("select lock_key from distributed_lock_fence", String.class))
			.containsExactly("claimed");
	}

	private void delete() {
		try {
			new IdleClaims(this.table, Duration.ofHours(1), clock()).delete();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private int waits(Database database) {
		Integer waits = this.jdbc.queryForObject(database.waits, Integer.class);
		return (waits != null) ? waits : 0;
	}

	enum Database {

		POSTGRESQL(SharedServers::postgres,
				"select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"),

		MARIADB(SharedServers::mariaDb,
				"select count(*) from information_schema.processlist where db = database() and time_ms > 100"
						+ " and command in ('Query', 'Execute') and id <> connection_id()"),

		H2(() -> "jdbc:h2:mem:" + UUID.randomUUID() + ";LOCK_TIMEOUT=60000",
				"select count(*) from information_schema.sessions where blocker_id is not null");

		private final Supplier<String> database;

		private final String waits;

		Database(Supplier<String> database, String waits) {
			this.database = database;
			this.waits = waits;
		}

	}

}
