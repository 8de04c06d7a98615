// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.MapPropertySource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.spring.EnableDistributedLocks;
import io.github.lockstarter.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The programs of the reference documentation.
 */
class WithoutSpringBootTests {

	@AutoClose
	private static RedisServer redis;

	@BeforeAll
	static void start() {
		redis = RedisServer.start();
	}

	@Test
	void aProgramWithoutSpring() {
		assertThat(run("localhost", redis.port())).isPositive();
		assertThat(redis.command("EXISTS", "lock:{stock:1001}")).isEqualTo("0");
	}

	@Test
	void anApplicationWithSpring() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("redis", java.util.Map.of("redis.port", redis.port())));
			context.register(LockConfiguration.class);
			context.refresh();
			assertThat(context.getBean(Stock.class).deduct(1001)).isPositive();
		}
	}

	private static long run(String host, int port) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(host, port);
		connections.afterPropertiesSet();
		connections.start();
		try (RedisLockStore store = new RedisLockStore(connections);
				DefaultLockRegistry registry = new DefaultLockRegistry(store)) {
			return new LockTemplate(registry).execute(LockRequest.of("stock", 1001), Lease::fencingToken);
		}
		finally {
			connections.destroy();
		}
	}

	@Configuration
	@EnableDistributedLocks
	@Import(Stock.class)
	static class LockConfiguration {

		@Bean
		LettuceConnectionFactory connections(@Value("${redis.port}") int port) {
			return new LettuceConnectionFactory("localhost", port);
		}

		@Bean
		LockStore lockStore(RedisConnectionFactory connections) {
			return new RedisLockStore(connections);
		}

	}

	static class Stock {

		@DistributedLock(name = "stock", key = "#productId")
		public long deduct(long productId) {
			return Lease.current().fencingToken();
		}

	}

}
