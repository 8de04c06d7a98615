// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which servers a shop starts by itself.
 */
class EmbeddedServersTests {

	@Test
	void withoutConfigurationTheyAreRedisAndAFile() {
		StandardEnvironment environment = environment("spring.data.redis.timeout=2s",
				"spring.datasource.hikari.maximum-pool-size=3");
		assertThat(EmbeddedServers.missing(environment)).containsExactly(EmbeddedServer.REDIS);
		assertThat(EmbeddedServers.needsFile(environment)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "host=redis.example", "port=6380", "url=redis://redis.example:6380",
			"sentinel.nodes=redis.example:26379", "cluster.nodes=redis.example:7000",
			"masterreplica.nodes=redis.example:7000" })
	void aConfiguredRedisIsUsed(String property) {
		assertThat(EmbeddedServers.missing(environment("spring.data.redis." + property))).isEmpty();
	}

	@Test
	void aRedisOfTheProcessEnvironmentIsUsed() {
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment",
					Map.of("SPRING_DATA_REDIS_SENTINEL_NODES_0", "redis.example:26379")));
		assertThat(EmbeddedServers.missing(environment)).isEmpty();
	}

	@Test
	void locksInAnotherStoreNeedNoRedis() {
		assertThat(EmbeddedServers.missing(environment("distributed-lock.store=jdbc"))).isEmpty();
	}

	@Test
	void aConfiguredDatabaseIsUsed() {
		assertThat(EmbeddedServers.needsFile(environment("spring.datasource.url=jdbc:h2:mem:own"))).isFalse();
	}

	@Test
	void eachProfileHasItsServers() {
		assertThat(EmbeddedServers.missing(environment("spring.profiles.active=zookeeper,redlock,postgresql,mariadb",
				"distributed-lock.store=zookeeper")))
			.containsExactly(EmbeddedServer.POSTGRESQL, EmbeddedServer.MARIADB, EmbeddedServer.ZOOKEEPER,
					EmbeddedServer.REDLOCK);
	}

	@Test
	void configuredServersOfAProfileAreUsed() {
		assertThat(EmbeddedServers.missing(environment("spring.profiles.active=zookeeper,redlock,postgresql,mariadb",
				"distributed-lock.store=zookeeper", "distributed-lock.zookeeper.connect-string=zookeeper.example:2181",
				"distributed-lock.redlock.nodes[0]=redis.example:6379", "spring.datasource.url=jdbc:h2:mem:own")))
			.isEmpty();
	}

	private static StandardEnvironment environment(String... properties) {
		StandardEnvironment environment = new StandardEnvironment();
		TestPropertyValues.of(properties).applyTo(environment);
		ConfigurationPropertySources.attach(environment);
		return environment;
	}

}
