// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.time.Duration;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Asks again without a pause, and has a lease that is longer than any sale instead of a
 * renewal. Right until a sale takes longer after all; but each waiting customer keeps
 * Redis and a thread busy, and after a crash all wait for the long lease.
 */
@RedisStrategy("redis-spin")
class SpinningRetry extends LuaWithoutRenewal {

	SpinningRetry(StringRedisTemplate redis, NoLock sale, @Value("${shop.long-lease-time:30s}") Duration leaseTime) {
		super(redis, sale, leaseTime);
	}

	@Override
	void acquire(String key, String owner, Patience patience) {
		while (!tryLock(key, owner)) {
			patience.check();
		}
	}

}
