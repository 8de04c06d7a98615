// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.zookeeper;

import java.util.List;
import java.util.concurrent.Callable;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.servers.SharedServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The store in an ensemble, with the one dependency of an application.
 */
@ExtendWith(OutputCaptureExtension.class)
class ZooKeeperLockAutoConfigurationTests {

	private static final String SERVER = SharedServers.zooKeeper();

	@Test
	void theEnsembleKeepsTheLocks(CapturedOutput output) throws Exception {
		try (ConfigurableApplicationContext application = start(Shop.class,
				"distributed-lock.zookeeper.connect-string=" + SERVER,
				"distributed-lock.zookeeper.session-timeout=4s")) {
			requireNode(application.getBean(Shop.class), "/distributed-locks/stock:1001");
		}
		assertThat(output).doesNotContain(" ERROR ");
	}

	@Test
	void theClientOfTheApplicationMayServe() throws Exception {
		try (ConfigurableApplicationContext application = start(ShopWithClient.class,
				"distributed-lock.zookeeper.root=/shop/locks")) {
			requireNode(application.getBean(Shop.class), "/shop/locks/stock:1001");
		}
	}

	private static void requireNode(Shop shop, String path) throws Exception {
		try (CuratorFramework client = client()) {
			client.start();
			assertThat(shop.<List<String>>sell(1001, () -> client.getChildren().forPath(path))).hasSize(1);
		}
	}

	@Test
	void withoutMembersTheStartEnds(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Shop.class).close())).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("set distributed-lock.zookeeper.connect-string, as in zk1:2181,zk2:2181,zk3:2181");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "", " ", "${ZK:}", ",", "zk://localhost:2181", "localhost:abc", "localhost:70000", ":2181" })
	void invalidMembersEndTheStart(String members, CapturedOutput output) {
		assertThat(
				catchThrowable(() -> start(Shop.class, "distributed-lock.zookeeper.connect-string=" + members).close()))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("for configuration property 'distributed-lock.zookeeper.connect-string'")
			.contains(
					"Set it to the members of the ensemble, as in zk1:2181,zk2:2181,zk3:2181, or leave it out to use a"
							+ " CuratorFramework bean.")
			.doesNotContain("\tat ");
	}

	@Test
	void severalClientsAreNamed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(TwoClients.class).close())).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("need one CuratorFramework bean, but there are several: 'first', 'second'.")
			.contains("mark one of them as @Primary, or set distributed-lock.zookeeper.connect-string");
	}

	@Test
	void thePrimaryOfSeveralClientsServes(CapturedOutput output) throws Exception {
		try (ConfigurableApplicationContext application = start(PrimaryClient.class)) {
			requireNode(application.getBean(Shop.class), "/distributed-locks/stock:1001");
		}
		assertThat(output).containsOnlyOnce("Locks are kept in the store 'zookeeper' at 127.0.0.1:")
			.contains(", below the node '/distributed-locks'; transactions are not fenced");
	}

	@Test
	void aClientThatIsNotStartedIsAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(LatentClient.class).close())).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("need a CuratorFramework bean that is started, but this one is in the state LATENT.")
			.contains("start it, for example with @Bean(initMethod = \"start\")");
	}

	@Test
	void aMethodThatTheStoreCannotServeEndsTheStart(CapturedOutput output) {
		assertThat(catchThrowable(
				() -> start(Keeper.class, "distributed-lock.zookeeper.connect-string=" + SERVER).close()))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("the lock store 'zookeeper' cannot keep a lock after its owner has released it");
	}

	@ParameterizedTest
	@ValueSource(strings = { "io.lettuce.core.RedisClient", "io.github.lockstarter.redis.RedisLockStore",
			"io.github.lockstarter.jdbc.JdbcLockStore",
			"org.apache.curator.framework.recipes.locks.InterProcessMutex" })
	void nothingElseComesWithTheDependency(String type) {
		assertThat(ClassUtils.isPresent(type, getClass().getClassLoader())).isFalse();
	}

	private static ConfigurableApplicationContext start(Class<?> application, String... properties) {
		return new SpringApplicationBuilder(application).properties(properties).run();
	}

	private static CuratorFramework client() {
		return CuratorFrameworkFactory.newClient(SERVER, new RetryOneTime(100));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Shop {

		@DistributedLock(name = "stock", key = "#product")
		public <T> T sell(long product, Callable<T> body) throws Exception {
			return body.call();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ShopWithClient extends Shop {

		@Bean(initMethod = "start", destroyMethod = "close")
		CuratorFramework curator() {
			return client();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoClients extends Shop {

		@Bean(initMethod = "start", destroyMethod = "close")
		CuratorFramework first() {
			return client();
		}

		@Bean(initMethod = "start", destroyMethod = "close")
		CuratorFramework second() {
			return client();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryClient extends ShopWithClient {

		@Bean(initMethod = "start", destroyMethod = "close")
		@Primary
		CuratorFramework primary() {
			return client();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LatentClient extends Shop {

		@Bean(destroyMethod = "close")
		CuratorFramework curator() {
			return client();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Keeper {

		@DistributedLock(name = "report", holdAtLeast = "1m")
		public void write() {
		}

	}

}
