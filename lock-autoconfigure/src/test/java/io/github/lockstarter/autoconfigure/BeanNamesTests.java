// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Bean names must not clash with those of other libraries or of the application.
 */
class BeanNamesTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withBean("connections", RedisConnectionFactory.class, Mockito::mock);

	@ParameterizedTest
	@ValueSource(strings = { "distributed-lock.store=memory", "distributed-lock.store=redis",
			"distributed-lock.enabled=false", "distributed-lock.advice-mode=aspectj" })
	void allBeginWithOurs(String property) {
		List<String> others = List.of("org.springframework", "connections",
				AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME);
		this.runner.withPropertyValues(property).run((context) -> {
			List<String> names = Arrays.stream(context.getBeanDefinitionNames())
				.filter((name) -> others.stream().noneMatch(name::startsWith))
				.filter((name) -> !name.contains("io.github.lockstarter."))
				.toList();
			assertThat(names).isNotEmpty()
				.allSatisfy((name) -> assertThat(name).matches("distributedLock.*|[a-zA-Z]+LockRegistry"));
		});
	}

	@Test
	void anApplicationMayCallItsOwnBeansWhatItLikes() {
		List<String> names = List.of("lockRegistry", "lockTemplate", "lockLifecycle", "lockStore", "redisLockStore",
				"memoryLockStore", "lockProperties", "lockDefinitionSource", "lockDefinitionValidator",
				"lockCommitGuards", "lockAdvisor", "redisLockRegistry");
		ApplicationContextRunner application = this.runner;
		for (String name : names) {
			application = application.withBean(name, Foreign.class);
		}
		application.run((context) -> assertThat(context).hasNotFailed()
			.hasSingleBean(LockTemplate.class)
			.satisfies((started) -> assertThat(started.getBeanNamesForType(LockRegistry.class))
				.contains("distributedLockRegistry"))
			.getBeanNames(Foreign.class)
			.hasSize(names.size()));
	}

	static class Foreign {

	}

}
