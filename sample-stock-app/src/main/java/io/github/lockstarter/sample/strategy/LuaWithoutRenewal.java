// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.time.Duration;
import java.util.List;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * {@code SET NX EX}, and a script that deletes the key only if it still is the owner's.
 * Only timing can go wrong now: a sale that takes longer than the lease, because of a
 * slow database or a pause of the JVM, sells beside the next one.
 */
@RedisStrategy("redis-lua")
class LuaWithoutRenewal extends NaiveRedisLock {

	private static final RedisScript<Long> DELETE_IF_OWN = RedisScript
		.of("if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0", Long.class);

	private final Duration leaseTime;

	LuaWithoutRenewal(StringRedisTemplate redis, NoLock sale,
			@Value("${shop.naive-lease-time:10s}") Duration leaseTime) {
		super(redis, sale);
		this.leaseTime = leaseTime;
	}

	@Override
	boolean tryLock(String key, String owner) {
		return setIfAbsent(key, owner, this.leaseTime);
	}

	@Override
	void unlock(String key, String owner) {
		redis().execute(DELETE_IF_OWN, List.of(key), owner);
	}

}
