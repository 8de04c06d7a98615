// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;

import static org.assertj.core.api.Assertions.assertThat;

class BeanChoiceTests {

	private static final String PROPERTY = "distributed-lock.redis.connection-factory";

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
	@ValueSource(strings = { "lockConnections", "forLocks" })
	void aPropertyNamesTheBeanOrItsQualifier(String name) {
		this.runner.withUserConfiguration(TwoFactories.class)
			.withPropertyValues(PROPERTY + "=" + name)
			.run((context) -> {
				try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001))) {
					assertThat(locks.command("EXISTS", "lock:{stock:1001}")).isEqualTo("1");
					assertThat(caches.command("EXISTS", "lock:{stock:1001}")).isEqualTo("0");
				}
			});
	}

	@Test
	void aPropertyIsStrongerThanAPrimaryBean() {
		this.runner.withUserConfiguration(PrimaryFactory.class)
			.withPropertyValues(PROPERTY + "=lockConnections")
			.run((context) -> {
				try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001))) {
					assertThat(locks.command("EXISTS", "lock:{stock:1001}")).isEqualTo("1");
				}
			});
	}

	@Test
	void aBeanThatNothingElseMayUseCanBeNamed() {
		this.runner.withUserConfiguration(HiddenFactory.class)
			.withPropertyValues(PROPERTY + "=forLocks", "spring.data.redis.url=" + caches.url())
			.run((context) -> {
				try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001))) {
					assertThat(locks.command("EXISTS", "lock:{stock:1001}")).isEqualTo("1");
				}
			});
	}

	@Test
	void withoutAChoiceTheStartEndsWithTheCandidates() {
		this.runner.withUserConfiguration(TwoFactories.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockStoreNotFoundException.class)
				.hasMessage("Distributed locks need one RedisConnectionFactory bean, but there are several:"
						+ " 'cacheConnections', 'lockConnections'"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "lockConnection", "someText" })
	void aWrongNameEndsTheStartWithTheCandidates(String name) {
		this.runner.withUserConfiguration(TwoFactories.class)
			.withBean("someText", String.class, () -> "text")
			.withPropertyValues(PROPERTY + "=" + name)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockStoreNotFoundException.class)
				.hasMessage(
						"The property " + PROPERTY + " has to name one RedisConnectionFactory bean, but there is none"
								+ " with the name or qualifier '" + name
								+ "'. RedisConnectionFactory beans: 'cacheConnections', 'lockConnections'")
				.extracting((ex) -> ((LockStoreNotFoundException) ex).getRemedy())
				.isEqualTo("set " + PROPERTY + " to the name or qualifier of one of these beans"));
	}

	@Test
	void aNameWithoutAnyBeanEndsTheStart() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues(PROPERTY + "=locks")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockStoreNotFoundException.class)
				.hasMessageContaining("RedisConnectionFactory beans: none")
				.extracting((ex) -> ((LockStoreNotFoundException) ex).getRemedy())
				.isEqualTo("leave out " + PROPERTY + ", or declare a RedisConnectionFactory bean of that name"));
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
		@Qualifier("forLocks")
		RedisConnectionFactory lockConnections() {
			return to(locks);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryFactory {

		@Bean
		@Primary
		RedisConnectionFactory cacheConnections() {
			return to(caches);
		}

		@Bean
		RedisConnectionFactory lockConnections() {
			return to(locks);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenFactory {

		@Bean(defaultCandidate = false)
		@Qualifier("forLocks")
		RedisConnectionFactory lockConnections() {
			return to(locks);
		}

	}

}
