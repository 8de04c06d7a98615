// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;

import static org.assertj.core.api.Assertions.assertThat;

class BeanChoiceTests {

	private static final RedisDatabase caches = SharedServers.redis();

	private static final RedisDatabase locks = SharedServers.redis();

	/**
	 * The first connection of a JVM may take longer than a caller waits for an answer.
	 */
	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DataRedisAutoConfiguration.class, DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.wait-time=1m", "distributed-lock.waiting.outage-time=1m");

	@ParameterizedTest
	@ValueSource(classes = { QualifiedFactory.class, HiddenFactory.class })
	void aQualifierIsStrongerThanAPrimaryBean(Class<?> configuration) {
		this.runner.withUserConfiguration(configuration).run((context) -> {
			try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001))) {
				assertThat(locks.command("EXISTS", "lock:{stock:1001}")).isEqualTo("1");
				assertThat(caches.command("EXISTS", "lock:{stock:1001}")).isEqualTo("0");
			}
		});
	}

	/** As well as that of another starter, which is declared under the same condition. */
	@Test
	void aFactoryForTheLocksAloneLeavesThatOfSpringBootInItsPlace() {
		this.runner.withUserConfiguration(LocksAlone.class)
			.withPropertyValues("spring.data.redis.port=" + caches.port(),
					"spring.data.redis.database=" + caches.number())
			.run((context) -> {
				try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1002))) {
					assertThat(locks.command("EXISTS", "lock:{stock:1002}")).isEqualTo("1");
				}
				context.getBean(StringRedisTemplate.class).opsForValue().set("cached", "1");
				assertThat(caches.command("EXISTS", "cached")).isEqualTo("1");
			});
	}

	@ParameterizedTest
	@ValueSource(classes = { TwoFactories.class, TwoQualifiers.class })
	void withoutAChoiceTheStartEndsWithTheCandidates(Class<?> configuration) {
		this.runner.withUserConfiguration(configuration)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockStoreNotFoundException.class)
				.hasMessage("Distributed locks need one RedisConnectionFactory bean, but there are several:"
						+ " 'cacheConnections', 'lockConnections'"));
	}

	private static LettuceConnectionFactory to(RedisDatabase redis) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("localhost", redis.port());
		server.setDatabase(redis.number());
		return new LettuceConnectionFactory(server);
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoFactories {

		@Bean
		RedisConnectionFactory cacheConnections() {
			return to(caches);
		}

		@Bean
		RedisConnectionFactory lockConnections() {
			return to(locks);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoQualifiers {

		@Bean
		@DistributedLockRedisConnectionFactory
		RedisConnectionFactory cacheConnections() {
			return to(caches);
		}

		@Bean
		@DistributedLockRedisConnectionFactory
		RedisConnectionFactory lockConnections() {
			return to(locks);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class QualifiedFactory {

		@Bean
		@Primary
		RedisConnectionFactory cacheConnections() {
			return to(caches);
		}

		@Bean
		@DistributedLockRedisConnectionFactory
		RedisConnectionFactory lockConnections() {
			return to(locks);
		}

	}

	/** Nothing else uses its connections. */
	@Configuration(proxyBeanMethods = false)
	static class HiddenFactory {

		@Bean
		RedisConnectionFactory cacheConnections() {
			return to(caches);
		}

		@Bean(defaultCandidate = false)
		@DistributedLockRedisConnectionFactory
		RedisConnectionFactory lockConnections() {
			return to(locks);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LocksAlone {

		@Bean(defaultCandidate = false)
		@DistributedLockRedisConnectionFactory
		LettuceConnectionFactory lockConnections() {
			return to(locks);
		}

	}

}
