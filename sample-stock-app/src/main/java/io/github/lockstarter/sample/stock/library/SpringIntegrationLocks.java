// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.library;

import java.util.concurrent.locks.Lock;

import org.springframework.context.annotation.Profile;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Expectation;
import io.github.lockstarter.sample.stock.Family;
import io.github.lockstarter.sample.stock.Sales;
import io.github.lockstarter.sample.stock.StrategyDescription;

/**
 * Spring Integration's {@code RedisLockRegistry} with renewal of its leases. Without the
 * scheduler for renewals, a slow sale loses its lock.
 */
@Component
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

	@Override
	public StrategyDescription description() {
		return new StrategyDescription("spring-integration", Family.LIBRARY,
				"RedisLockRegistry of Spring Integration with renewal: right while Redis keeps its data and no JVM pauses",
				Expectation.RIGHT);
	}

}
