// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an application gets beside locks if it adds the starter.
 */
@ExtendWith(OutputCaptureExtension.class)
class NeighboursTests {

	private static final String IN_REDIS = "Caches are kept in Redis, because spring.cache.type is not set";

	/** A neighbour that has nothing to do with Redis, and takes long to start. */
	private static final String JPA = HibernateJpaAutoConfiguration.class.getName() + ","
			+ DataJpaRepositoriesAutoConfiguration.class.getName();

	private static final RedisDatabase redis = SharedServers.redis();

	@Test
	void locksAndTemplatesAreInTheSameRedisAndCachesThatMoveThereAreTold(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start(Shop.class)) {
			assertThat(context.getBean(Stock.class).lockInRedis()).isEqualTo("1");
			context.getBean(StringRedisTemplate.class).opsForValue().set("greeting", "hello");
			assertThat(redis.command("GET", "greeting")).isEqualTo("hello");
			assertThat(context.getBean(CacheManager.class)).isInstanceOf(RedisCacheManager.class);
			assertThat(context.getBeanDefinitionNames()).filteredOn((name) -> name.toLowerCase().contains("lock"))
				.filteredOn((name) -> name.toLowerCase().matches(".*(jdbc|zookeeper|redlock|memory).*"))
				.isEmpty();
		}
		assertThat(output).containsOnlyOnce(IN_REDIS);
	}

	@Test
	void cachesAreWhereAPropertySays(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start(Shop.class, "--spring.cache.type=caffeine")) {
			assertThat(context.getBean(CacheManager.class)).isInstanceOf(CaffeineCacheManager.class);
		}
		assertThat(output).doesNotContain(IN_REDIS);
	}

	@Test
	void cachesOfTheApplicationStayWhereTheyAre(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start(OwnCaches.class)) {
			assertThat(context.getBean(CacheManager.class)).isInstanceOf(ConcurrentMapCacheManager.class);
		}
		assertThat(output).doesNotContain(IN_REDIS);
	}

	@Test
	void noClassOfAnotherStoreIsThere() {
		assertThat(List.of("io.github.lockstarter.jdbc.JdbcLockStore",
				"io.github.lockstarter.zookeeper.ZooKeeperLockStore", "org.apache.curator.framework.CuratorFramework"))
			.noneMatch((type) -> ClassUtils.isPresent(type, getClass().getClassLoader()));
	}

	private static ConfigurableApplicationContext start(Class<?> configuration, String... arguments) {
		return new SpringApplicationBuilder(configuration).web(WebApplicationType.NONE)
			.properties("spring.data.redis.url=" + redis.url(), "spring.autoconfigure.exclude=" + JPA,
					"distributed-lock.wait-time=1m", "distributed-lock.waiting.outage-time=1m")
			.run(arguments);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableCaching
	@Import(Stock.class)
	static class Shop {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Shop.class)
	static class OwnCaches {

		@Bean
		CacheManager caches() {
			return new ConcurrentMapCacheManager();
		}

	}

	public static class Stock {

		@DistributedLock(name = "stock")
		public String lockInRedis() {
			return redis.command("EXISTS", "lock:{stock}");
		}

	}

}
