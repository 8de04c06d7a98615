// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.redis;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.sample.stock.Sales;

/**
 * {@code SETNX} and {@code DEL}. If an owner crashes, its key stays, and nobody can buy
 * any more until somebody deletes it by hand.
 */
@RedisStrategy("redis-setnx")
class SetWithoutExpiry extends NaiveRedisLock {

	SetWithoutExpiry(StringRedisTemplate redis, Sales sales) {
		super(redis, sales);
	}

	@Override
	boolean tryLock(String key, String owner) {
		return Boolean.TRUE.equals(redis().opsForValue().setIfAbsent(key, "locked"));
	}

	@Override
	void unlock(String key, String owner) {
		redis().delete(key);
	}

}
