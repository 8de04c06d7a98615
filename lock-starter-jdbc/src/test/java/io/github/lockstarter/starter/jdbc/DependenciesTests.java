// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.jdbc;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an application gets by the one dependency.
 */
class DependenciesTests {

	@ParameterizedTest
	@ValueSource(strings = { "io.github.lockstarter.jdbc.JdbcLockStore",
			"io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration",
			"com.zaxxer.hikari.HikariDataSource" })
	void theStoreIsThere(String type) {
		assertThat(isPresent(type)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "io.github.lockstarter.redis.RedisLockStore", "io.lettuce.core.RedisClient",
			"org.springframework.data.redis.core.RedisTemplate" })
	void redisIsNot(String type) {
		assertThat(isPresent(type)).isFalse();
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, DependenciesTests.class.getClassLoader());
	}

}
