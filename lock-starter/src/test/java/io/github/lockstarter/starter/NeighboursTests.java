// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.util.List;

import com.github.benmanes.caffeine.cache.Caffeine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.repository.CrudRepository;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * An application that adds the starter and does not use Redis itself gets locks and
 * nothing else.
 */
@ExtendWith(OutputCaptureExtension.class)
class NeighboursTests {

	/** A neighbour that has nothing to do with Redis, and takes long to start. */
	private static final String JPA = HibernateJpaAutoConfiguration.class.getName() + ","
			+ DataJpaRepositoriesAutoConfiguration.class.getName();

	private static final RedisDatabase redis = SharedServers.redis();

	@Test
	void locksAreInRedisAndNothingElseIs(CapturedOutput output) {
		try (ConfigurableApplicationContext context = application(Shop.class).run()) {
			assertThat(context.getBean(CacheManager.class)).isInstanceOf(CaffeineCacheManager.class);
			Catalogue catalogue = context.getBean(Catalogue.class);
			assertThat(catalogue.find(1001)).isSameAs(catalogue.find(1001));
			assertThat(context.getBean(Stock.class).lockInRedis()).isEqualTo("1");
			assertThat(redis.command("KEYS", "*price*")).isEmpty();
			assertThat(context.getBeanDefinitionNames()).extracting((name) -> String.valueOf(context.getType(name)))
				.filteredOn((type) -> type.contains("data.redis") || type.contains("lettuce"))
				.isEmpty();
			assertThat(context.getBeanDefinitionNames()).filteredOn((name) -> name.toLowerCase().contains("lock"))
				.filteredOn((name) -> name.toLowerCase().matches(".*(jdbc|zookeeper|redlock|memory|connections).*"))
				.isEmpty();
		}
		assertThat(output).contains("their own connection to Redis");
	}

	@Test
	void theSimplestCacheStaysTheSimplest() {
		SpringApplication application = application(Shop.class);
		application.setResourceLoader(new DefaultResourceLoader(new FilteredClassLoader(Caffeine.class)));
		try (ConfigurableApplicationContext context = application.run()) {
			assertThat(context.getBean(CacheManager.class)).isInstanceOf(ConcurrentMapCacheManager.class);
			assertThat(context.getBean(Catalogue.class).find(1001)).isNotNull();
		}
	}

	@Test
	void noClassOfAnotherStoreIsThere() {
		assertThat(List.of("io.github.lockstarter.jdbc.JdbcLockStore",
				"io.github.lockstarter.zookeeper.ZooKeeperLockStore", "org.apache.curator.framework.CuratorFramework"))
			.noneMatch((type) -> ClassUtils.isPresent(type, getClass().getClassLoader()));
	}

	@Test
	void aMissingTemplateIsExplained(CapturedOutput output) {
		assertThat(catchThrowable(() -> application(TemplateUser.class).run())).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("required a bean of type '" + StringRedisTemplate.class.getName() + "'")
			.contains("is used only by the locks")
			.contains("add the dependency org.springframework.boot:spring-boot-starter-data-redis");
	}

	@Test
	void aMissingRepositoryIsExplained(CapturedOutput output) {
		assertThat(catchThrowable(() -> application(RepositoryUser.class).run())).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("required a bean of type '" + Orders.class.getName() + "'")
			.contains("lock-starter adds Spring Data Redis")
			.contains("@Table");
	}

	@Test
	void otherMissingBeansAreExplainedAsEver(CapturedOutput output) {
		assertThat(catchThrowable(() -> application(TextUser.class).run())).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Consider defining a bean of type 'java.lang.CharSequence'");
	}

	private static SpringApplication application(Class<?> configuration) {
		return new SpringApplicationBuilder(configuration).web(WebApplicationType.NONE)
			.properties("spring.data.redis.url=" + redis.url(), "spring.autoconfigure.exclude=" + JPA,
					"distributed-lock.wait-time=1m", "distributed-lock.waiting.outage-time=1m")
			.application();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableCaching
	@Import({ Catalogue.class, Stock.class })
	public static class Shop {

	}

	/** Has no serialized form. */
	public static final class Price {

	}

	public static class Catalogue {

		@Cacheable("prices")
		public Price find(long id) {
			return new Price();
		}

	}

	public static class Stock {

		@DistributedLock(name = "stock")
		public String lockInRedis() {
			return redis.command("EXISTS", "lock:{stock}");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class TemplateUser {

		@Bean
		Object user(StringRedisTemplate template) {
			return template;
		}

	}

	interface Orders extends CrudRepository<Price, Long> {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class RepositoryUser {

		@Bean
		Object user(Orders orders) {
			return orders;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class TextUser {

		@Bean
		Object user(CharSequence text) {
			return text;
		}

	}

}
