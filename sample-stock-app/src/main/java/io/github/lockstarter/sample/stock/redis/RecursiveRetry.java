// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.redis;

import java.time.Duration;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.sample.stock.Patience;
import io.github.lockstarter.sample.stock.Sales;

/**
 * Like {@link LuaWithoutRenewal}, with a call of itself for each new attempt: if the lock
 * is held for long, the stack overflows.
 */
@RedisStrategy("redis-recursion")
class RecursiveRetry extends ExpiringLock {

	RecursiveRetry(StringRedisTemplate redis, Sales sales, @Value("${shop.naive-lease-time:10s}") Duration leaseTime) {
		super(redis, sales, leaseTime);
	}

	@Override
	void acquire(String key, String owner, Patience patience) {
		if (!tryLock(key, owner)) {
			patience.check();
			acquire(key, owner, patience);
		}
	}

}
