// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.time.Duration;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * {@code SET NX EX} in one command, with the same value for all owners. An owner that is
 * late deletes the key of the next one, so that a third one comes in, and so on: one slow
 * sale opens the lock for as long as others are waiting.
 */
@RedisStrategy("redis-constant-value")
class ConstantValue extends NaiveRedisLock {

	private final Duration leaseTime;

	ConstantValue(StringRedisTemplate redis, NoLock sale, @Value("${shop.naive-lease-time:10s}") Duration leaseTime) {
		super(redis, sale);
		this.leaseTime = leaseTime;
	}

	@Override
	boolean tryLock(String key, String owner) {
		return setIfAbsent(key, "locked", this.leaseTime);
	}

	@Override
	void unlock(String key, String owner) {
		redis().delete(key);
	}

}
