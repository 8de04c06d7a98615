// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers what a native image does not find by reachability: the scripts, and the field
 * with the servers of a Lettuce connection factory.
 */
class RedisLockRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern(LockScript.LOCATION + "*.lua");
		hints.reflection()
			.registerTypeIfPresent(classLoader,
					"org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
					MemberCategory.ACCESS_DECLARED_FIELDS)
			.registerTypeIfPresent(classLoader, "redis.clients.jedis.UnifiedJedis",
					MemberCategory.ACCESS_DECLARED_FIELDS);
	}

}
