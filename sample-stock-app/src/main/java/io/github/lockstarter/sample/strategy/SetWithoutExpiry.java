// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * {@code SETNX} and {@code DEL}. If an owner crashes, its key stays, and nobody can buy
 * any more until somebody deletes it by hand.
 */
@RedisStrategy("redis-setnx")
class SetWithoutExpiry extends NaiveRedisLock {

	SetWithoutExpiry(StringRedisTemplate redis, NoLock sale) {
		super(redis, sale);
	}

	@Override
	boolean tryLock(String key, String owner) {
		return setIfAbsent(key, "locked");
	}

	@Override
	void unlock(String key, String owner) {
		redis().delete(key);
	}

}
