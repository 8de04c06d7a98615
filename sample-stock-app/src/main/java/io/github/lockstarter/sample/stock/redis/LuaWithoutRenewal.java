// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.redis;

import java.time.Duration;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.sample.stock.Expectation;
import io.github.lockstarter.sample.stock.Family;
import io.github.lockstarter.sample.stock.Sales;
import io.github.lockstarter.sample.stock.StrategyDescription;

/**
 * {@code SET NX EX}, and a script that deletes the key only if it is the own one. All
 * that is left is time: a sale that takes longer than the lease, because of a slow
 * database or a pause of the JVM, sells beside the next one.
 */
@RedisStrategy
class LuaWithoutRenewal extends ExpiringLock {

	LuaWithoutRenewal(StringRedisTemplate redis, Sales sales,
			@Value("${shop.naive-lease-time:10s}") Duration leaseTime) {
		super(redis, sales, leaseTime);
	}

	@Override
	public StrategyDescription description() {
		return new StrategyDescription("redis-lua", Family.NAIVE_REDIS,
				"SET NX EX and a script for the release, no renewal: a slow sale loses its lock", Expectation.WRONG);
	}

}
