// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.redlock.RedlockStore;
import io.github.lockstarter.servers.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The store on a majority of servers, by properties alone.
 */
class RedlockAutoConfigurationTests {

	private static List<RedisServer> servers;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DataRedisAutoConfiguration.class, DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.redlock.restart-delay=0s", "distributed-lock.wait-time=1m",
				"distributed-lock.waiting.outage-time=1m");

	@BeforeAll
	static void start() {
		servers = Stream.generate(() -> RedisServer.start()).limit(3).toList();
	}

	@AfterAll
	static void stop() {
		servers.forEach(RedisServer::close);
	}

	private static String nodes(String... login) {
		return "distributed-lock.redlock.nodes=" + servers.stream()
			.map((server) -> String.join("", login) + "127.0.0.1:" + server.port())
			.collect(Collectors.joining(", "));
	}

	@Test
	void aMajorityOfServersKeepsTheLocks() {
		this.runner.withPropertyValues("distributed-lock.store=redlock", nodes())
			.run(RedlockAutoConfigurationTests::requireRedlock);
	}

	@Test
	void aServerThatIsDownDoesNotEndTheStart() {
		this.runner
			.withPropertyValues("distributed-lock.store=redlock",
					nodes().substring(0, nodes().lastIndexOf(',')) + ",redis://127.0.0.1:1")
			.run(RedlockAutoConfigurationTests::requireRedlock);
	}

	@Test
	void theLoginIsThatOfTheAddresses() {
		servers.forEach((server) -> server.command("ACL", "SETUSER", "shop", "on", ">p@ss", "~*", "+@all"));
		servers.forEach((server) -> server.command("ACL", "LOG", "RESET"));
		this.runner.withPropertyValues("distributed-lock.store=redlock", nodes("redis://shop:p%40ss@"))
			.run((context) -> {
				requireRedlock(context);
				servers.forEach((server) -> assertThat(server.command("ACL", "LOG")).isEmpty());
				assertThat(servers.get(0).command("CLIENT", "LIST")).contains("user=shop");
			});
	}

	private static void requireRedlock(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed().hasSingleBean(RedlockStore.class);
		try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001))) {
			assertThat(lease.isHeld()).isTrue();
			assertThat(servers.stream()
				.filter((server) -> server.command("EXISTS", "lock:{stock:1001}").equals("1"))
				.count()).isGreaterThanOrEqualTo(2);
		}
	}

	@Test
	void thereIsNoSuchStoreWithoutServers() {
		this.runner.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(RedlockStore.class));
		this.runner.withPropertyValues("distributed-lock.store=redlock")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage(
						"The property distributed-lock.store is 'redlock', but distributed-lock.redlock.nodes is not set"));
	}

	@Test
	void thereIsNoSuchStoreWithoutLettuce() {
		this.runner.withClassLoader(new FilteredClassLoader(RedisClient.class))
			.withPropertyValues("distributed-lock.store=redlock", nodes())
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage(
						"The property distributed-lock.store is 'redlock', but that store is not on the class path"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "127.0.0.1:7001,127.0.0.1:7002 | an odd number of servers, at least three, but there are 2",
					"one,two,redis://shop:secret@ONE:6379 | the server one:6379 is listed twice",
					"one,http://two,three | each node must have the form host:port" })
	void invalidServersEndTheStart(String nodes, String reason) {
		this.runner.withPropertyValues("distributed-lock.store=redlock", "distributed-lock.redlock.nodes=" + nodes)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("distributed-lock.redlock.nodes")
				.hasMessageContaining(reason));
	}

}
