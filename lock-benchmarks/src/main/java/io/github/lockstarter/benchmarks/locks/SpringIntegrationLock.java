// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.Lock;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import io.github.lockstarter.benchmarks.servers.ServerAddress;

/**
 * The {@link RedisLockRegistry} of Spring Integration, with renewal.
 */
final class SpringIntegrationLock implements Competitor {

	/** With the smaller default, it forgets its oldest lock even if that is held. */
	private static final int CAPACITY = 200_000;

	private final String name;

	private final RedisLockType type;

	SpringIntegrationLock(String name, RedisLockType type) {
		this.name = name;
		this.type = type;
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public Set<Ability> abilities() {
		return (this.type == RedisLockType.PUB_SUB_LOCK) ? Ability.ofLocks()
				: Set.of(Ability.DISTRIBUTED, Ability.CONTENDED);
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", server.port());
		connections.start();
		ThreadPoolTaskScheduler renewals = new ThreadPoolTaskScheduler();
		renewals.setDaemon(true);
		renewals.initialize();
		RedisLockRegistry registry = new RedisLockRegistry(connections, "benchmark", Duration.ofMillis(leaseMillis));
		registry.setRedisLockType(this.type);
		registry.setRenewalTaskScheduler(renewals);
		registry.setCacheCapacity(CAPACITY);
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				Lock lock = registry.obtain(key);
				lock.lock();
				return lock::unlock;
			}

			@Override
			public void close() {
				registry.destroy();
				renewals.destroy();
				connections.destroy();
			}

		};
	}

}
