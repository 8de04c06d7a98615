// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;

import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * The {@link JdbcLockRegistry} of Spring Integration, which asks every 100 ms while it
 * waits. Only the thread that holds a lock can renew it. There are no fencing tokens.
 */
final class SpringIntegrationJdbcClient implements LockClient {

	private final Duration leaseTime;

	private final HikariDataSource pool;

	private final DefaultLockRepository repository;

	private final JdbcLockRegistry registry;

	SpringIntegrationJdbcClient(ServerAddress address, Duration leaseTime) {
		this.leaseTime = leaseTime;
		this.pool = DatabasePool.to(address, 8);
		this.repository = new DefaultLockRepository(this.pool);
		this.repository.setTransactionManager(new JdbcTransactionManager(this.pool));
		this.repository.afterPropertiesSet();
		this.repository.afterSingletonsInstantiated();
		this.repository.start();
		this.registry = new JdbcLockRegistry(this.repository, leaseTime);
	}

	@Override
	public @Nullable Held tryLock(String key, Duration waitTime) throws InterruptedException {
		Lock lock = this.registry.obtain(key);
		return lock.tryLock(waitTime.toMillis(), TimeUnit.MILLISECONDS)
				? new SpringIntegrationJdbcHeld(this.registry, key, lock, new HolderRenewal(this.leaseTime)) : null;
	}

	@Override
	public int residue() {
		return 0;
	}

	@Override
	public void close() {
		this.repository.close();
		this.pool.close();
	}

	private record SpringIntegrationJdbcHeld(JdbcLockRegistry registry, String key, Lock lock,
			HolderRenewal renewal) implements Held {

		@Override
		public long token() {
			return 0;
		}

		@Override
		public boolean isHeld() {
			return this.renewal.isHeld(() -> {
				this.registry.renewLock(this.key);
				return true;
			});
		}

		@Override
		public void unlock() {
			this.lock.unlock();
		}

	}

}
