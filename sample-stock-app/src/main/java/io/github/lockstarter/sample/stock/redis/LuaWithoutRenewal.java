// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.redis;

import java.time.Duration;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.sample.stock.Sales;

/**
 * {@code SET NX EX}, and a script that deletes the key only if it is the own one. All
 * that is left is time: a sale that takes longer than the lease, because of a slow
 * database or a pause of the JVM, sells beside the next one.
 */
@RedisStrategy("redis-lua")
class LuaWithoutRenewal extends ExpiringLock {

	LuaWithoutRenewal(StringRedisTemplate redis, Sales sales,
			@Value("${shop.naive-lease-time:10s}") Duration leaseTime) {
		super(redis, sales, leaseTime);
	}

}
