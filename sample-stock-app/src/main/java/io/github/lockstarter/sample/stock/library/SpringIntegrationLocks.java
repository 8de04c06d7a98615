// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.library;

import java.util.concurrent.locks.Lock;

import org.springframework.context.annotation.Profile;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * Spring Integration's {@code RedisLockRegistry} with renewal of its leases. Without the
 * scheduler for renewals, a slow sale loses its lock.
 */
@Component("spring-integration")
@Profile("libraries")
class SpringIntegrationLocks extends LibraryLock {

	private final RedisLockRegistry registry;

	SpringIntegrationLocks(RedisLockRegistry registry, Sales sales) {
		super(sales);
		this.registry = registry;
	}

	@Override
	Lock lock(String key) {
		return this.registry.obtain(key);
	}

}
