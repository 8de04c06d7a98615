// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.lang.reflect.Proxy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.mockito.Mockito;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

import org.springframework.core.io.DefaultResourceLoader;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Annotated beans in contexts without distributed locks.
 */
@ExtendWith(OutputCaptureExtension.class)
class UnlockedBeansTests {

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, MockedStock.class, WithLocks.class })
	void aContextWithoutUnlockedBeansStarts(Class<?> application) {
		start(application, "--distributed-lock.store=memory").close();
	}

	@Test
	void anApplicationWithoutAutoConfigurationIsRefused(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Stock.class))).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains(Stock.class.getName() + ".deduct(long)")
			.contains("this application context has no distributed locks")
			.contains("@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)");
	}

	@Test
	void excludedAutoConfigurationIsRefused(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Application.class, "--spring.autoconfigure.exclude=" + EXCLUDED,
				"--spring.main.banner-mode=off")))
			.isNotNull();
		assertThat(output).contains("do not exclude DistributedLockAutoConfiguration");
	}

	@Test
	void weavingWithoutAspectJIsRefusedWithItsOwnRemedy(CapturedOutput output) {
		SpringApplication application = new SpringApplicationBuilder(WithLocks.class).web(WebApplicationType.NONE)
			.resourceLoader(new DefaultResourceLoader(new FilteredClassLoader("org.aspectj")))
			.application();
		assertThat(catchThrowable(
				() -> application.run("--distributed-lock.store=memory", "--distributed-lock.advice-mode=aspectj")))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("is not woven with the aspect")
			.contains("-javaagent and the jar of org.aspectj:aspectjweaver")
			.doesNotContain("no distributed locks");
	}

	private static final String EXCLUDED = "io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration";

	@Test
	void anAnnotatedInterfaceOfAProxyIsRefused() {
		assertThat(catchThrowable(() -> start(ProxyBean.class))).hasStackTraceContaining("no distributed locks");
	}

	@Test
	void aBeanThatIsCreatedLaterIsRefusedThen() {
		try (ConfigurableApplicationContext context = start(LazyStock.class)) {
			assertThat(catchThrowable(() -> context.getBean(Stock.class)))
				.hasStackTraceContaining("no distributed locks");
		}
	}

	@Test
	void aParentAndAChildMayBothHaveLocks() {
		try (ConfigurableApplicationContext parent = start(WithLocks.class, "--distributed-lock.store=memory");
				ConfigurableApplicationContext child = new SpringApplicationBuilder(ChildWithLocks.class).parent(parent)
					.web(WebApplicationType.NONE)
					.run()) {
			assertThat(child.getBean(LockRegistry.class)).isSameAs(parent.getBean(LockRegistry.class));
			assertThat(child.getBean(Prices.class).update()).isEqualTo(LockKey.of("price", "north"));
		}
	}

	@Test
	void aChildWithoutLocksIsRefused(CapturedOutput output) {
		try (ConfigurableApplicationContext parent = start(WithLocks.class, "--distributed-lock.store=memory")) {
			assertThat(catchThrowable(() -> new SpringApplicationBuilder(MissingLocks.class).parent(parent)
				.web(WebApplicationType.NONE)
				.run())).isNotNull();
		}
		assertThat(output).contains("APPLICATION FAILED TO START").contains("@EnableDistributedLocks");
	}

	private static ConfigurableApplicationContext start(Class<?> application, String... arguments) {
		return new SpringApplicationBuilder(application).web(WebApplicationType.NONE).run(arguments);
	}

	static class Stock {

		@DistributedLock(name = "stock", key = "#id")
		public void deduct(long id) {
		}

	}

	public interface Orders {

		@DistributedLock(name = "orders")
		void close();

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Stock stock() {
			return new Stock();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ProxyBean {

		@Bean
		Object orders() {
			return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Orders.class },
					(proxy, method, arguments) -> method.getName().equals("toString") ? "orders" : null);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyStock {

		@Bean
		@Lazy
		Stock stock() {
			return new Stock();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Plain {

		@Bean
		String text() {
			return "text";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MockedStock {

		@Bean
		Stock stock() {
			return Mockito.mock();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class WithLocks {

		@Bean
		Stock stock() {
			return new Stock();
		}

	}

	static class Prices {

		@DistributedLock(name = "price", key = "@region")
		public LockKey update() {
			return Lease.current().key();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class ChildWithLocks {

		@Bean
		Prices prices() {
			return new Prices();
		}

		@Bean
		String region() {
			return "north";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MissingLocks {

		@Bean
		Prices prices() {
			return new Prices();
		}

	}

}
