// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.redis;

import java.time.Duration;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.sample.stock.Expectation;
import io.github.lockstarter.sample.stock.Family;
import io.github.lockstarter.sample.stock.Patience;
import io.github.lockstarter.sample.stock.Sales;
import io.github.lockstarter.sample.stock.StrategyDescription;

/**
 * Asks again without a pause, and has a lease that is longer than any sale instead of a
 * renewal. Right until a sale takes longer after all; but each waiting customer keeps
 * Redis and a thread busy, and after a crash all wait for the long lease.
 */
@RedisStrategy
class SpinningRetry extends ExpiringLock {

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	SpinningRetry(StringRedisTemplate redis, Sales sales) {
		super(redis, sales, LEASE_TIME);
	}

	@Override
	void acquire(String key, String owner, Patience patience) {
		while (!tryLock(key, owner)) {
			patience.check();
		}
	}

	@Override
	public StrategyDescription description() {
		return new StrategyDescription("redis-spin", Family.NAIVE_REDIS,
				"A lease of 30 s, and attempts without a pause: right until a sale takes longer, and keeps Redis busy",
				Expectation.COSTLY);
	}

}
