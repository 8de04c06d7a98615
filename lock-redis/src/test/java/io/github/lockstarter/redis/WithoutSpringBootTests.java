// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.file.Path;
import java.util.List;

import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.test.WorkerJvm;
import io.github.lockstarter.testsupport.ClassPath;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks in a program with only Spring Data Redis beside the library.
 */
class WithoutSpringBootTests {

	/** Spring Data Redis with Lettuce, without its dependencies for proxies. */
	private static final List<String> SPRING_DATA_REDIS = List.of("spring-data-redis-", "spring-data-commons-",
			"spring-data-keyvalue-", "spring-tx-", "spring-context-", "spring-beans-", "spring-core-", "lettuce-core-",
			"netty-", "reactor-core-", "reactive-streams-", "slf4j-api-", "redis-authx-core-");

	@Test
	void redisNeedsNeitherSpringBootNorProxies(@TempDir Path folder) throws Exception {
		String classPath = ClassPath.of(LockKey.class, RedisLockStore.class, NullMarked.class, LogFactory.class)
			.andJars(SPRING_DATA_REDIS)
			.andOnly(ProgramWithoutSpringBoot.class, folder)
			.toString();
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				WorkerJvm program = WorkerJvm.startOn(classPath, List.of(), ProgramWithoutSpringBoot.class,
						redis.port())) {
			assertThat(program.readLine()).isEqualTo("grows: true");
			assertThat(program.readLine()).isEqualTo("Spring Boot: false");
			assertThat(program.readLine()).isEqualTo("annotated methods: false");
			program.awaitSuccess();
		}
	}

}
