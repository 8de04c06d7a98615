// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.time.Duration;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * {@code SETNX} with an {@code EXPIRE} after it. A crash between the two leaves a key
 * without an end; and a sale that takes longer than the time that was set sells beside
 * the next one.
 */
@RedisStrategy("redis-setnx-expire")
class SetThenExpire extends NaiveRedisLock {

	private final Duration leaseTime;

	SetThenExpire(StringRedisTemplate redis, NoLock sale, @Value("${shop.naive-lease-time:10s}") Duration leaseTime) {
		super(redis, sale);
		this.leaseTime = leaseTime;
	}

	@Override
	boolean tryLock(String key, String owner) {
		if (!setIfAbsent(key, "locked")) {
			return false;
		}
		redis().expire(key, this.leaseTime);
		return true;
	}

	@Override
	void unlock(String key, String owner) {
		redis().delete(key);
	}

}
