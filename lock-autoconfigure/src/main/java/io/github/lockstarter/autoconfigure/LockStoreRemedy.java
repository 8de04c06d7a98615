// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * How an application gets a kind of store that it has not: the first of several classes
 * that is missing, and what to do about it.
 *
 * @param missing the name of a class
 * @param action what to do if it is missing
 */
record LockStoreRemedy(String missing, String action) {

	private static final Map<String, List<LockStoreRemedy>> REMEDIES = Map.of("jdbc",
			List.of(dependency("io.github.lockstarter.jdbc.JdbcLockStore", "io.github.lockstarter:lock-starter-jdbc"),
					dependency("com.zaxxer.hikari.HikariDataSource", "com.zaxxer:HikariCP"),
					dependency("org.springframework.boot.jdbc.EmbeddedDatabaseConnection",
							"org.springframework.boot:spring-boot-starter-jdbc")),
			"zookeeper",
			List.of(dependency("io.github.lockstarter.zookeeper.ZooKeeperLockStore",
					"io.github.lockstarter:lock-starter-zookeeper"),
					dependency(
							"org.apache.curator.framework.CuratorFramework", "org.apache.curator:curator-framework")),
			"redis",
			List.of(dependency("io.github.lockstarter.redis.RedisLockStore", "io.github.lockstarter:lock-starter"),
					dependency("org.springframework.data.redis.connection.RedisConnectionFactory",
							"org.springframework.boot:spring-boot-starter-data-redis")),
			"redlock",
			List.of(dependency("io.github.lockstarter.redlock.RedlockStore", "io.github.lockstarter:lock-starter"),
					dependency("org.springframework.data.redis.connection.RedisConnectionFactory",
							"org.springframework.boot:spring-boot-starter-data-redis"),
					dependency("io.lettuce.core.RedisClient", "io.lettuce:lettuce-core")));

	private static LockStoreRemedy dependency(String missing, String dependency) {
		return new LockStoreRemedy(missing, "Add the dependency " + dependency + ".");
	}

	/**
	 * Return what to do, or {@code null} if that is not known.
	 * @param kind the kind of a store that is not there
	 */
	static @Nullable String of(String kind) {
		return of(kind, Thread.currentThread().getContextClassLoader());
	}

	static @Nullable String of(String kind, @Nullable ClassLoader classLoader) {
		return REMEDIES.getOrDefault(kind, List.of())
			.stream()
			.filter((remedy) -> !ClassUtils.isPresent(remedy.missing(), classLoader))
			.map(LockStoreRemedy::action)
			.findFirst()
			.orElse(kind.equals("redlock")
					? "Set distributed-lock.redlock.nodes to the addresses of at least three servers." : null);
	}

}
