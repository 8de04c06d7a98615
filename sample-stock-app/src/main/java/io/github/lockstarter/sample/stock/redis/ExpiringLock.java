// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.redis;

import java.time.Duration;
import java.util.List;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import io.github.lockstarter.sample.stock.Sales;

/**
 * A key with an end and a value of its owner, which only the owner deletes, atomically.
 */
abstract class ExpiringLock extends NaiveRedisLock {

	private static final RedisScript<Long> DELETE_IF_OWN = RedisScript
		.of("if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0", Long.class);

	private final Duration leaseTime;

	ExpiringLock(StringRedisTemplate redis, Sales sales, Duration leaseTime) {
		super(redis, sales);
		this.leaseTime = leaseTime;
	}

	@Override
	boolean tryLock(String key, String owner) {
		return Boolean.TRUE.equals(redis().opsForValue().setIfAbsent(key, owner, this.leaseTime));
	}

	@Override
	void unlock(String key, String owner) {
		redis().execute(DELETE_IF_OWN, List.of(key), owner);
	}

}
