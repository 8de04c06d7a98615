// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * Sells under a lock of another library.
 */
class LibraryLock implements DeductionStrategy {

	private static final Duration WAIT_TIME = Duration.ofSeconds(10);

	private final Function<String, Lock> locks;

	private final NoLock sale;

	LibraryLock(Function<String, Lock> locks, NoLock sale) {
		this.locks = locks;
		this.sale = sale;
	}

	@Override
	public int deduct(long productId, int count) {
		Lock lock = this.locks.apply("stock:" + productId);
		try {
			if (!lock.tryLock(WAIT_TIME.toMillis(), TimeUnit.MILLISECONDS)) {
				throw new BusyException(productId);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BusyException(productId);
		}
		try {
			return this.sale.deduct(productId, count);
		}
		finally {
			lock.unlock();
		}
	}

	/**
	 * The libraries, in the Redis of the shop. Both renew their leases.
	 */
	@Configuration(proxyBeanMethods = false)
	@Profile("libraries")
	static class Libraries {

		/**
		 * Redisson's {@code RLock} with a wait time and no lease time, so that its
		 * watchdog renews the lease. It does not notify an owner whose lock was lost, and
		 * has no fencing token; its {@code RFencedLock} has one.
		 */
		@Bean("redisson")
		LibraryLock redisson(RedissonClient client, NoLock sale) {
			return new LibraryLock((key) -> client.getLock("redisson:" + key), sale);
		}

		@Bean(destroyMethod = "shutdown")
		RedissonClient redissonClient(LettuceConnectionFactory connections,
				@Value("${distributed-lock.lease-time}") Duration leaseTime) {
			Config config = new Config().setLockWatchdogTimeout(leaseTime.toMillis());
			config.useSingleServer().setAddress("redis://" + connections.getHostName() + ":" + connections.getPort());
			return Redisson.create(config);
		}

		/**
		 * Spring Integration's {@code RedisLockRegistry} with renewal of its leases.
		 * Without the scheduler for renewals, a slow sale loses its lock.
		 */
		@Bean("spring-integration")
		LibraryLock springIntegration(RedisLockRegistry registry, NoLock sale) {
			return new LibraryLock(registry::obtain, sale);
		}

		@Bean
		RedisLockRegistry springIntegrationLockRegistry(RedisConnectionFactory connections,
				@Value("${distributed-lock.lease-time}") Duration leaseTime) {
			RedisLockRegistry registry = new RedisLockRegistry(connections, "spring-integration", leaseTime.toMillis());
			registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
			registry.setRenewalTaskScheduler(scheduler());
			return registry;
		}

		private static ThreadPoolTaskScheduler scheduler() {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setDaemon(true);
			scheduler.initialize();
			return scheduler;
		}

	}

}
