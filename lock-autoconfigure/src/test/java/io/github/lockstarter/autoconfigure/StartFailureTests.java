// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import jakarta.annotation.PostConstruct;
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
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.EnableTransactionManagement;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.OnContention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The console output of a start that fails, and of one that does not.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartFailureTests {

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
			"UnknownProperty | key \"#order.idd\" has no value: Order has no property 'idd'; it has id, item",
			"UnknownBean | key \"@regoins\" uses the bean 'regoins', which does not exist",
			"LockedCallback | Spring calls the method on the bean itself and not on its proxy",
			"FinalClass | is final, so no proxy can intercept its calls" })
	void aMistakeThatOnlyTheFirstCallWouldFindIsAnalyzed(String bean, String problem, CapturedOutput output)
			throws Exception {
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
			.contains("add the dependency io.github.lockstarter:lock-redis");
	}

	@Test
	void aMissingRedisIsAnalyzed(CapturedOutput output) {
		SpringApplication application = application(Application.class);
		application.setResourceLoader(new DefaultResourceLoader(
				new FilteredClassLoader(RedisConnectionFactory.class, RedisOperations.class)));
		assertThat(catchThrowable(application::run)).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Distributed locks need Redis, but Spring Data Redis is not on the class path.")
			.contains("add the dependency org.springframework.boot:spring-boot-starter-data-redis")
			.contains("distributed-lock.store=memory");
	}

	@Test
	void severalConnectionFactoriesAreAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(TwoFactories.class))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("mark one RedisConnectionFactory bean as @Primary");
	}

	@Test
	void anIllegalKeyPrefixIsAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Application.class, "distributed-lock.key-prefix={lock}"))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("distributed-lock.key-prefix")
			.contains("braces would change the slot");
	}

	@Test
	void aDurationWithoutAUnitIsAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(
				() -> start(Application.class, "distributed-lock.store=memory", "distributed-lock.wait-time=10")))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.containsPattern("Property: distributed-lock.wait-time\\s+Value: \"10\"")
			.contains("It has no unit: write 10s or 10ms.")
			.doesNotContain("\tat ");
	}

	@Test
	void theReactionsToATransactionAreListed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Application.class, "distributed-lock.store=memory",
				"distributed-lock.on-active-transaction=later")))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("DEFER", "FAIL", "RELEASE_ON_RETURN")
			.doesNotContain("DEFAULT");
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
		return new SpringApplicationBuilder(configuration).web(WebApplicationType.NONE).application();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DataRedisAutoConfiguration.class,
			DistributedLockAutoConfiguration.class })
	static class Application {

	}

	@Import(Application.class)
	static class PrimitiveSkip {

		@DistributedLock(onContention = OnContention.SKIP)
		public int run() {
			return 0;
		}

	}

	record Order(long id, String item) {
	}

	@Import(Application.class)
	static class UnknownProperty {

		@DistributedLock(key = "#order.idd")
		public void run(Order order) {
		}

	}

	@Import(Application.class)
	static class UnknownBean {

		@DistributedLock(key = "@regoins")
		public void run() {
		}

	}

	@Import(Application.class)
	static class LockedCallback {

		@PostConstruct
		@DistributedLock
		public void run() {
		}

	}

	@Import(Application.class)
	static final class FinalClass {

		@DistributedLock
		public void run() {
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
