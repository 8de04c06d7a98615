// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.nio.file.Path;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link EmbeddedConfiguration}.
 */
class EmbeddedConfigurationTests {

	private ApplicationContextRunner runner;

	@BeforeEach
	void runner(@TempDir Path directory) {
		this.runner = new ApplicationContextRunner().withUserConfiguration(EmbeddedConfiguration.class)
			.withConfiguration(
					AutoConfigurations.of(DataRedisAutoConfiguration.class, DataSourceAutoConfiguration.class))
			.withPropertyValues("shop.directory=" + directory);
	}

	@Test
	void bringsRedisAndDatabaseWhenNothingIsConfigured() {
		this.runner.withPropertyValues("spring.data.redis.timeout=2s", "spring.datasource.hikari.maximum-pool-size=3")
			.run((context) -> {
				LettuceConnectionFactory redis = context.getBean(LettuceConnectionFactory.class);
				assertThat(redis.getHostName()).isEqualTo("127.0.0.1");
				assertThat(redis.getConnection().ping()).isEqualTo("PONG");
				assertThat(context.getBean(HikariDataSource.class).getJdbcUrl()).startsWith("jdbc:h2:file:");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "host=redis.example", "port=6380", "url=redis://redis.example:6380",
			"sentinel.nodes=redis.example:26379", "cluster.nodes=redis.example:7000",
			"masterreplica.nodes=redis.example:7000" })
	void leavesConfiguredRedisAlone(String property) {
		String[] properties = property.startsWith("sentinel")
				? new String[] { "spring.data.redis." + property, "spring.data.redis.sentinel.master=mymaster" }
				: new String[] { "spring.data.redis." + property };
		this.runner.withPropertyValues(properties)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(EmbeddedRedis.class));
	}

	@Test
	void leavesRedisOfTheProcessEnvironmentAlone() {
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment",
						Map.of("SPRING_DATA_REDIS_SENTINEL_NODES_0", "redis.example:26379",
								"SPRING_DATA_REDIS_SENTINEL_MASTER", "mymaster"))))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(EmbeddedRedis.class));
	}

	@Test
	void startsNoRedisForLocksInAnotherStore() {
		this.runner.withPropertyValues("distributed-lock.store=jdbc")
			.run((context) -> assertThat(context).doesNotHaveBean(EmbeddedRedis.class)
				.hasSingleBean(EmbeddedDatabase.class));
	}

	@Test
	void leavesConfiguredServersOfAProfileAlone() {
		this.runner
			.withPropertyValues("spring.profiles.active=zookeeper,redlock,postgresql",
					"distributed-lock.zookeeper.connect-string=zookeeper.example:2181",
					"distributed-lock.redlock.nodes[0]=redis.example:6379", "spring.datasource.url=jdbc:h2:mem:own")
			.run((context) -> assertThat(StoreProfile.values())
				.noneMatch((profile) -> profile.needsServers(context.getEnvironment())));
	}

	@Test
	void leavesConfiguredDatabaseAlone() {
		this.runner.withPropertyValues("spring.datasource.url=jdbc:h2:mem:own").run((context) -> {
			assertThat(context).doesNotHaveBean(EmbeddedDatabase.class).hasSingleBean(EmbeddedRedis.class);
			assertThat(context.getBean(HikariDataSource.class).getJdbcUrl()).isEqualTo("jdbc:h2:mem:own");
		});
	}

}
