// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * Sells under a lock of a registry that is not the default one. The locks of two
 * registries do not exclude each other.
 */
class StoreLock implements DeductionStrategy {

	private final LockTemplate locks;

	private final NoLock sale;

	StoreLock(LockRegistry registry, NoLock sale) {
		this.locks = new LockTemplate(registry);
		this.sale = sale;
	}

	@Override
	public int deduct(long productId, int count) {
		return this.locks.execute(LockRequest.of("stock", productId), (lease) -> this.sale.deduct(productId, count));
	}

	/**
	 * For the profile that has all stores.
	 */
	@Configuration(proxyBeanMethods = false)
	@Profile("stores")
	static class Stores {

		/**
		 * The fastest store; if Redis loses its data, for example in a failover, there
		 * may be two owners for a moment, which {@link FencedLock} prevents.
		 */
		@Bean("distributed-lock-redis")
		StoreLock redis(@Qualifier("redisLockRegistry") LockRegistry registry, NoLock sale) {
			return new StoreLock(registry, sale);
		}

		/**
		 * The database that has the stock. The sale claims the lock there, so a late
		 * owner sells nothing. Each lock costs statements and two rows.
		 */
		@Bean("distributed-lock-jdbc")
		StoreLock jdbc(@Qualifier("jdbcLockRegistry") LockRegistry registry, NoLock sale) {
			return new StoreLock(registry, sale);
		}

		/**
		 * A majority of the ensemble confirms each grant, so no failover loses a lock,
		 * and each lock waits for that majority. An owner that is paused for longer than
		 * its session may still write late.
		 */
		@Bean("distributed-lock-zookeeper")
		StoreLock zooKeeper(@Qualifier("zooKeeperLockRegistry") LockRegistry registry, NoLock sale) {
			return new StoreLock(registry, sale);
		}

		/**
		 * A majority of independent Redis servers. It outlives the loss of a minority,
		 * but relies on clocks that run at the same speed. An owner that is paused for
		 * longer than its lease may still write late.
		 */
		@Bean("distributed-lock-redlock")
		StoreLock redlock(@Qualifier("redlockLockRegistry") LockRegistry registry, NoLock sale) {
			return new StoreLock(registry, sale);
		}

	}

}
