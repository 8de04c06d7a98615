// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.time.Duration;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * {@code SET NX EX} with a value of the owner, which asks whether the key is still its
 * own before it deletes it. The key may expire between {@code GET} and {@code DEL}, and
 * then that of the next owner is deleted.
 */
@RedisStrategy("redis-get-then-del")
class GetThenDelete extends NaiveRedisLock {

	private final Duration leaseTime;

	GetThenDelete(StringRedisTemplate redis, NoLock sale, @Value("${shop.naive-lease-time:10s}") Duration leaseTime) {
		super(redis, sale);
		this.leaseTime = leaseTime;
	}

	@Override
	boolean tryLock(String key, String owner) {
		return setIfAbsent(key, owner, this.leaseTime);
	}

	@Override
	void unlock(String key, String owner) {
		if (owner.equals(redis().opsForValue().get(key))) {
			redis().delete(key);
		}
	}

}
