// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * The JDBC provider of ShedLock with the time of the database. ShedLock never waits for a
 * lock, so this asks again after 100 ms, like the loops of tutorials.
 */
final class ShedLockJdbcLock implements Competitor {

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	@Override
	public String name() {
		return "ShedLock + sleep";
	}

	@Override
	public Set<ServerKind> servers() {
		return Set.of(ServerKind.POSTGRESQL, ServerKind.MARIADB, ServerKind.H2);
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of(Ability.DISTRIBUTED, Ability.CONTENDED);
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		HikariDataSource connections = PooledConnections.ofPeer(server);
		LockProvider provider = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
			.withJdbcTemplate(new JdbcTemplate(connections))
			.usingDbTime()
			.build());
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				Optional<SimpleLock> lock = tryLock(key);
				while (lock.isEmpty()) {
					LockSupport.parkNanos(PAUSE_NANOS);
					lock = tryLock(key);
				}
				return lock.get()::unlock;
			}

			private Optional<SimpleLock> tryLock(String key) {
				return provider
					.lock(new LockConfiguration(Instant.now(), key, Duration.ofMillis(leaseMillis), Duration.ZERO));
			}

			@Override
			public void close() {
				connections.close();
			}

		};
	}

}
