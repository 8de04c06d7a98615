// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.IOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mockito.Mockito;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.EnableTransactionManagement;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.LockRegistryFactory;
import io.github.lockstarter.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The console output of a start that fails, and of one that does not.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartFailureTests {

	private static final ClassLoader OTHERS_FIRST = new OthersFirst();

	@Test
	void anInvalidAnnotationIsAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(PrimitiveSkip.class, "distributed-lock.store=memory"))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START");
		assertThat(output.toString().split("APPLICATION FAILED TO START")[1])
			.contains("Invalid @DistributedLock on '" + PrimitiveSkip.class.getName() + ".run()':"
					+ " onContention = SKIP has no empty result of type int")
			.containsOnlyOnce("Return an object type, which may be null, or an Optional; or name a fallback.");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { //
			"QuotedParameter | key \"'order:#id'\" has a parameter inside quotes, where it is not evaluated",
			"FinalMethod | the method is final, so no proxy can intercept its calls" })
	void aMistakeThatNoCallWouldReportIsAnalyzed(String bean, String problem, CapturedOutput output) throws Exception {
		Class<?> type = Class.forName(getClass().getName() + '$' + bean);
		assertThat(catchThrowable(() -> start(type, "distributed-lock.store=memory"))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid @DistributedLock on '" + type.getName() + ".run(")
			.contains(problem)
			.contains("Action:")
			.doesNotContain("\tat ");
	}

	@Test
	void aMissingModuleForRedisIsAnalyzed(CapturedOutput output) {
		SpringApplication application = application(Application.class);
		application
			.setResourceLoader(new DefaultResourceLoader(new FilteredClassLoader("io.github.lockstarter.redis")));
		assertThat(catchThrowable(application::run)).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Distributed locks need a store, but there is none on the class path.")
			.contains("add the dependency io.github.lockstarter:lock-starter for Redis, lock-starter-jdbc for a"
					+ " database, or lock-starter-zookeeper, or declare a LockStore bean");
	}

	@Test
	void aMissingModuleOfANamedStoreIsAnalyzed(CapturedOutput output) {
		SpringApplication application = application(Application.class);
		application.setResourceLoader(new DefaultResourceLoader(
				new FilteredClassLoader("io.github.lockstarter.redis", "io.github.lockstarter.redlock")));
		assertThat(catchThrowable(() -> application.run("--distributed-lock.store=redis"))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("The property distributed-lock.store is 'redis', but that store is not on the class path.")
			.contains("add the dependency io.github.lockstarter:lock-starter, which brings Spring Data Redis");
	}

	@Test
	void severalConnectionFactoriesAreAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(TwoFactories.class))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains(
					"annotate one of these beans with @DistributedLockRedisConnectionFactory, mark one of them as @Primary");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { //
			"redlock | distributed-lock.redlock.nodes is not set | set distributed-lock.redlock.nodes to the addresses of at least three servers",
			"jdbc | that store is not on the class path | add the dependency io.github.lockstarter:lock-starter-jdbc, which brings" })
	void aMissingDefaultStoreIsAnalyzed(String store, String problem, String remedy, CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Application.class, "distributed-lock.store=" + store))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("The property distributed-lock.store is '" + store + "', but " + problem + ".")
			.containsPattern("Action:\\s+To lock across instances, " + remedy)
			.doesNotContain("\tat ");
	}

	@Test
	void addressesWithoutTheirStoreAreWarnedOf(CapturedOutput output) {
		SpringApplication application = application(Application.class);
		application.setResourceLoader(new DefaultResourceLoader(
				new FilteredClassLoader("io.github.lockstarter.zookeeper", "io.github.lockstarter.redlock")));
		application
			.run("--distributed-lock.store=memory", "--distributed-lock.zookeeper.connect-string=zk1:2181",
					"--distributed-lock.redlock.nodes=one,two,three")
			.close();
		assertThat(output)
			.containsOnlyOnce("No lock is kept in the store 'zookeeper', because it is not on the class"
					+ " path, although distributed-lock.zookeeper.connect-string is set: to use it, add the dependency"
					+ " io.github.lockstarter:lock-starter-zookeeper; otherwise remove the property")
			.containsOnlyOnce("No lock is kept in the store 'redlock'");
	}

	@Test
	void theKindsOfStoresAreListed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Application.class, "distributed-lock.store=rediss"))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("distributed-lock.store", "rediss", "AUTO", "JDBC", "MEMORY", "REDIS", "REDLOCK", "ZOOKEEPER");
	}

	@Test
	void aRegistryOfAMethodThatCannotBeCreatedIsAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(OtherStore.class, "distributed-lock.store=memory"))).isNotNull();
		assertThat(output).contains("Distributed locks need one RedisConnectionFactory bean, but there are several")
			.contains("distributed-lock.enabled=false: then the locks of all registries are kept in this JVM");
	}

	@Test
	void aBeanReplacesAKindOfRegistryInTests() {
		try (ConfigurableApplicationContext context = start(ReplacedStore.class, "distributed-lock.store=memory")) {
			context.getBean(OtherStore.Job.class).run();
		}
	}

	@Test
	void theStoreOfTheLocksIsToldOnce(CapturedOutput output) {
		start(Application.class).close();
		assertThat(output).containsOnlyOnce("Locks are kept in the store 'redis' at ")
			.contains(", database 0, in keys that begin with 'lock:'")
			.contains("; transactions are not fenced");
	}

	@Test
	void severalStoresWithoutADefaultAreAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(TwoStores.class))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Distributed locks need one default store, but there are several LockStore beans: 'first',"
					+ " 'second'.")
			.contains("mark one of these beans as @Primary, or the others as @Bean(defaultCandidate = false)")
			.doesNotContain("\tat ");
	}

	@Test
	void anUnknownRegistryOfAMethodIsAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(UnknownRegistry.class, "distributed-lock.store=memory"))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid @DistributedLock on '" + UnknownRegistry.class.getName()
					+ ".run()': the lock is requested in the registry 'zooKeeperLockRegistry', which does not exist")
			.containsPattern("Action:\\s+For this registry, add the dependency"
					+ " io.github.lockstarter:lock-starter-zookeeper.")
			.doesNotContain("\tat ");
	}

	@Test
	void aRegistryThatIsNamedByItsStoreIsAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(RegistryByStore.class, "distributed-lock.store=memory"))).isNotNull();
		assertThat(output)
			.containsPattern("Action:\\s+'redis' is the store of the bean 'redisLockRegistry': name the bean\\."
					+ " Registries: 'distributedLockRegistry', .*'redisLockRegistry'");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "redis://shop:s3cret@localhost:1,localhost:2 | an odd number of servers",
			"redis://shop:s3cret@local host,two,three | each node must have the form host:port" })
	void invalidServersOfRedlockAreAnalyzedWithoutTheirPassword(String nodes, String reason, CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Application.class, "distributed-lock.store=redlock",
				"distributed-lock.redlock.nodes=" + nodes)))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("The property distributed-lock.redlock.nodes is invalid: ")
			.contains(reason)
			.contains("set distributed-lock.redlock.nodes to the addresses of at least three servers")
			.doesNotContain("s3cret")
			.doesNotContain("\tat ");
	}

	@Test
	void aMissingConnectionFactoryIsAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(LocksOnly.class))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Distributed locks in Redis need a RedisConnectionFactory bean, but there is none.")
			.contains("add the dependency org.springframework.boot:spring-boot-starter-data-redis")
			.doesNotContain("\tat ");
	}

	@Test
	void aMissingDriverIsAnalyzed(CapturedOutput output) {
		SpringApplication application = application(Application.class);
		application.setResourceLoader(new DefaultResourceLoader(new FilteredClassLoader("redis.clients.jedis")));
		assertThat(catchThrowable(() -> application.run("--spring.data.redis.client-type=jedis"))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Distributed locks in Redis need a RedisConnectionFactory bean, but there is none.")
			.contains("add the driver that spring.data.redis.client-type names: redis.clients:jedis for jedis")
			.doesNotContain("add the dependency");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = { //
			"locks.stock.stroe | Correct the name of the property, or remove it.",
			"fencing.transaction | Correct the name of the property, or remove it.",
			"locks.order.place.wait-time | Put a lock name with a dot in brackets: distributed-lock.locks[order.place].wait-time, in YAML \"[order.place]\"." })
	void anUnknownPropertyIsAnalyzed(String property, String action, CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Application.class, "distributed-lock.store=memory",
				"distributed-lock." + property + "=redis")))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("There is no configuration property 'distributed-lock." + property
					+ "' (originating from \"distributed-lock." + property + "\" from property source"
					+ " \"commandLineArgs\").")
			.containsPattern("Action:\\s+" + Pattern.quote(action))
			.doesNotContain("Bindable@")
			.doesNotContain("\tat ");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = { //
			"lease-time=0s | Invalid value '0s' for configuration property 'distributed-lock.lease-time' (originating from \"distributed-lock.lease-time\" from property source \"commandLineArgs\"): It must be",
			"key-prefix={lock} | Invalid value '{lock}' for configuration property 'distributed-lock.key-prefix' (",
			"lease-time=2d | Invalid value 'PT24H' for configuration property 'distributed-lock.redis.fence-retention': It must not be shorter than 'distributed-lock.lease-time'",
			"locks[a b].wait-time=1s | Invalid value 'a b' for configuration property 'distributed-lock.locks[a b]': 'name' must be 1 to 128" })
	void anInvalidValueIsAnalyzed(String property, String problem, CapturedOutput output) {
		assertThat(catchThrowable(
				() -> start(Application.class, "distributed-lock.store=memory", "distributed-lock." + property)))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains(problem)
			.doesNotContain("InvalidConfigurationPropertyValueException")
			.doesNotContain("\tat ");
	}

	@Test
	void theReactionsToATransactionAreListed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Application.class, "distributed-lock.store=memory",
				"distributed-lock.on-active-transaction=later")))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START").contains("DEFER", "FAIL", "RELEASE_ON_RETURN");
	}

	@Test
	void theReactionsOfALockNameAreListed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Application.class, "distributed-lock.store=memory",
				"distributed-lock.locks.stock.on-contention=wait")))
			.isNotNull();
		assertThat(output).contains("THROW", "SKIP");
	}

	@Test
	void aGoodStartWarnsOfNothing(CapturedOutput output) {
		start(Valid.class, "distributed-lock.store=memory").close();
		assertThat(output).contains("Started").doesNotContain("WARN").doesNotContain("not eligible for");
	}

	private static ConfigurableApplicationContext start(Class<?> configuration, String... properties) {
		return application(configuration).run(arguments(properties));
	}

	private static String[] arguments(String... properties) {
		List<String> arguments = new ArrayList<>();
		Arrays.stream(properties).map("--"::concat).forEach(arguments::add);
		return arguments.toArray(String[]::new);
	}

	private static SpringApplication application(Class<?> configuration) {
		return new SpringApplicationBuilder(configuration).web(WebApplicationType.NONE)
			.resourceLoader(new DefaultResourceLoader(OTHERS_FIRST))
			.application();
	}

	/**
	 * Shows the libraries before the locks: as in an application whose first dependency
	 * is another starter, the failure analyzers of Spring Boot are listed first.
	 */
	private static final class OthersFirst extends ClassLoader {

		OthersFirst() {
			super(StartFailureTests.class.getClassLoader());
		}

		@Override
		public Enumeration<URL> getResources(String name) throws IOException {
			List<URL> resources = Collections.list(super.getResources(name));
			Collections.reverse(resources);
			return Collections.enumeration(resources);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DataRedisAutoConfiguration.class,
			DistributedLockAutoConfiguration.class })
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DistributedLockAutoConfiguration.class })
	static class LocksOnly {

	}

	@Import(Application.class)
	static class PrimitiveSkip {

		@DistributedLock(onContention = OnContention.SKIP)
		public int run() {
			return 0;
		}

	}

	@Import(Application.class)
	static class QuotedParameter {

		@DistributedLock(key = "'order:#id'")
		public void run(long id) {
		}

	}

	@Import(Application.class)
	static class FinalMethod {

		@DistributedLock
		public final void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class TwoFactories {

		@Bean
		RedisConnectionFactory first() {
			return Mockito.mock();
		}

		@Bean
		RedisConnectionFactory second() {
			return Mockito.mock();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ TwoFactories.class, OtherStore.Job.class })
	static class OtherStore {

		static class Job {

			@DistributedLock(registry = "redisLockRegistry")
			public void run() {
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(OtherStore.class)
	static class ReplacedStore {

		@Bean(defaultCandidate = false)
		LockRegistry redisLockRegistry(LockRegistryFactory registries) {
			return registries.create("redis", new MemoryLockStore());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class TwoStores {

		@Bean
		LockStore first() {
			return new MemoryLockStore();
		}

		@Bean
		LockStore second() {
			return new MemoryLockStore();
		}

	}

	@Import(Application.class)
	static class UnknownRegistry {

		@DistributedLock(registry = "zooKeeperLockRegistry")
		public void run() {
		}

	}

	@Import(Application.class)
	static class RegistryByStore {

		@DistributedLock(registry = "redis")
		public void run() {
		}

	}

	@EnableAsync
	@EnableResilientMethods
	@EnableTransactionManagement
	@Import(Application.class)
	static class Valid {

		@DistributedLock(key = "#id")
		public void run(long id) {
		}

	}

}
