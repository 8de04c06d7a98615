// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.testsupport.AbstractArchitectureTests;

/**
 * The rooms of the stores in Redis.
 */
class ArchitectureTests extends AbstractArchitectureTests {

	ArchitectureTests() {
		super(Map.of(".redis", Set.of("", ".store"), ".redlock", Set.of("", ".store", ".redis")));
	}

	@Override
	protected String[] startingThreads() {
		// A driver blocks a thread while it connects, subscribes or looks an address up;
		// these threads end with the store
		return new String[] { ".redis.ConnectAttempts", ".redis.PrimaryAddress", ".redis.RedisReleaseSignal" };
	}

	@Test
	void nothingNeedsSpringBootOrAspects() {
		assertUsedOnlyIn("locks in Redis work without Spring Boot and without proxies", Set.of(),
				"org.springframework.boot..", "org.springframework.aop..", "org.springframework.transaction..",
				"org.springframework.context..");
	}

}
