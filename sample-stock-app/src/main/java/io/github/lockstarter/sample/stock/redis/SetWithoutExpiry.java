// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.redis;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.sample.stock.Expectation;
import io.github.lockstarter.sample.stock.Family;
import io.github.lockstarter.sample.stock.Sales;
import io.github.lockstarter.sample.stock.StrategyDescription;

/**
 * {@code SETNX} and {@code DEL}. If an owner crashes, its key stays, and nobody can buy
 * any more until somebody deletes it by hand.
 */
@RedisStrategy
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

	@Override
	public StrategyDescription description() {
		return new StrategyDescription("redis-setnx", Family.NAIVE_REDIS,
				"SETNX without an expiry: after a crash nobody can buy any more", Expectation.WRONG);
	}

}
