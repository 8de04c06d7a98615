// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.time.Duration;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Like {@link LuaWithoutRenewal}, with a call of itself for each new attempt: if the lock
 * is held for long, the stack overflows.
 */
@RedisStrategy("redis-recursion")
class RecursiveRetry extends LuaWithoutRenewal {

	RecursiveRetry(StringRedisTemplate redis, NoLock sale, @Value("${shop.naive-lease-time:10s}") Duration leaseTime) {
		super(redis, sale, leaseTime);
	}

	@Override
	void acquire(String key, String owner, Patience patience) {
		if (!tryLock(key, owner)) {
			patience.check();
			acquire(key, owner, patience);
		}
	}

}
