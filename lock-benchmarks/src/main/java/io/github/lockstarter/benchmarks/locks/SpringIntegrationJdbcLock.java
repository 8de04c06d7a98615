// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.Lock;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * The {@link JdbcLockRegistry} of Spring Integration, with its default pause of 100 ms
 * between attempts and without renewal.
 */
final class SpringIntegrationJdbcLock implements Competitor {

	@Override
	public String name() {
		return "Spring Integration, JDBC";
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
		DefaultLockRepository repository = new DefaultLockRepository(connections);
		repository.setTransactionManager(new JdbcTransactionManager(connections));
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		JdbcLockRegistry registry = new JdbcLockRegistry(repository, Duration.ofMillis(leaseMillis));
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				Lock lock = registry.obtain(key);
				lock.lock();
				return lock::unlock;
			}

			@Override
			public void close() {
				repository.close();
				connections.close();
			}

		};
	}

}
