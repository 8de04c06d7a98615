// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.Time;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.redis.RedisLockStore;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;
import io.github.lockstarter.spring.LockRegistryFactory;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with several lock registries.
 */
@ExtendWith(OutputCaptureExtension.class)
class SeveralRegistriesTests {

	private static final LockRequest STOCK = LockRequest.of("stock").withWaitTime(Duration.ZERO);

	/**
	 * The first connection of a JVM may take longer than a caller waits for an answer.
	 */
	private static final String PATIENT = "distributed-lock.waiting.outage-time=1m";

	private final ManualTime time = new ManualTime();

	private final LockMemory own = new LockMemory(this.time);

	private final LockMemory further = new LockMemory(this.time);

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(DataRedisAutoConfiguration.class, DistributedLockAutoConfiguration.class));

	private final ApplicationContextRunner withStore = this.runner.withBean("shelves", LockStore.class,
			() -> new MemoryLockStore(this.own));

	private final ApplicationContextRunner withFurther = this.withStore
		.withBean("memoryOfReports", LockMemory.class, () -> this.further)
		.withUserConfiguration(Reports.class);

	@AfterEach
	void nothingIsLeft() {
		assertThat(this.own.isEmpty() && this.further.isEmpty()).isTrue();
	}

	private static DefaultLockRegistry innermost(Object registry) {
		return (DefaultLockRegistry) ((TransactionAwareLockRegistry) registry).delegate();
	}

	@Test
	void theOnlyKindOfStoreHasTheRegistryThatIsInjected() {
		this.runner.run((context) -> {
			LockRegistry registry = context.getBean(LockRegistry.class);
			assertThat(context.getBean("redisLockRegistry")).isSameAs(registry);
			assertThat(innermost(registry).name()).isEqualTo("redis");
			assertThat(innermost(registry).store()).isSameAs(context.getBean(RedisLockStore.class));
		});
	}

	@Test
	void aStoreOfTheApplicationHasTheRegistryThatIsInjected() {
		this.withStore.run((context) -> {
			assertThat(innermost(context.getBean(LockRegistry.class)).name()).isEqualTo("shelves");
			assertThat(context.getBeanFactory().containsSingleton("redisLockRegistry")).isFalse();
			assertThat(context.getBeanFactory().containsSingleton("distributedLockRedisStore")).isFalse();
		});
	}

	@Test
	void thePropertyComesBeforeAStoreOfTheApplication() {
		this.withStore.withPropertyValues("distributed-lock.store=Redis")
			.run((context) -> assertThat(innermost(context.getBean(LockRegistry.class)).name()).isEqualTo("redis"));
		this.withStore.withPropertyValues("distributed-lock.store=memory")
			.run((context) -> assertThat(innermost(context.getBean(LockRegistry.class)).name()).isEqualTo("memory"));
	}

	@Test
	void aStoreThatThePropertyLeavesOutIsWarnedOf(CapturedOutput output) {
		this.withStore.withPropertyValues("distributed-lock.store=memory").run((context) -> {
		});
		assertThat(output).containsOnlyOnce("No lock is kept in the LockStore bean 'shelves', because"
				+ " distributed-lock.store is 'memory': to use it, remove the property");
	}

	@Test
	void aStoreOfAnotherRegistryIsNotWarnedOf(CapturedOutput output) {
		this.withStore.withUserConfiguration(Shelves.class)
			.withPropertyValues("distributed-lock.store=memory")
			.run((context) -> {
			});
		assertThat(output).doesNotContain("No lock is kept");
	}

	/** It is created later. */
	@Test
	void theStoreOfALazyRegistryIsNotWarnedOf(CapturedOutput output) {
		this.withStore.withUserConfiguration(Shelves.class)
			.withPropertyValues("distributed-lock.store=memory")
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThat(context.getBeanFactory().containsSingleton("shelfLockRegistry")).isFalse());
		assertThat(output).contains("Locks are kept in the store 'memory'").doesNotContain("No lock is kept");
	}

	@Test
	void thePrimaryOfSeveralStoresIsChosenAndOthersThatAreNoCandidatesAreNot() {
		this.withStore
			.withBean("primary", LockStore.class, () -> new MemoryLockStore(), (bean) -> bean.setPrimary(true))
			.run((context) -> assertThat(innermost(context.getBean(LockRegistry.class)).name()).isEqualTo("primary"));
		this.withFurther
			.run((context) -> assertThat(innermost(context.getBean(LockRegistry.class)).name()).isEqualTo("shelves"));
	}

	@Test
	void aFurtherRegistryIsABeanOfThreeLines() {
		this.withFurther.withBean(Shop.class)
			.withPropertyValues("distributed-lock.locks.stock.lease-time=5s")
			.run((context) -> {
				Shop shop = context.getBean(Shop.class);
				assertThat(shop.stock(() -> !this.own.isEmpty() && this.further.isEmpty())).isTrue();
				assertThat(shop.stockOfReports(() -> this.own.isEmpty() && !this.further.isEmpty())).isTrue();
				assertThat(shop.stockByQualifier(() -> this.own.isEmpty() && !this.further.isEmpty())).isTrue();
				LockRegistry reports = context.getBean("reportLockRegistry", LockRegistry.class);
				assertThat(context.getBean(LockRegistry.class)).isNotSameAs(reports);
				try (Lease lease = reports.acquire(STOCK);
						Lease other = context.getBean(LockRegistry.class).acquire(STOCK)) {
					assertThat(lease.remaining().toSeconds()).isLessThanOrEqualTo(5);
				}
			});
	}

	@Test
	void aRegistryOfAnotherKindIsCreatedWhenAMethodNamesIt() {
		RedisDatabase redis = SharedServers.redis();
		this.withStore
			.withPropertyValues("spring.data.redis.url=" + redis.url(), PATIENT, "distributed-lock.wait-time=1m")
			.withBean(Elsewhere.class)
			.run((context) -> {
				assertThat(context.getBeanFactory().containsSingleton("redisLockRegistry")).isTrue();
				assertThat(context.getBean(Elsewhere.class)
					.run(() -> redis.command("EXISTS", "lock:{stock}").equals("1") && this.own.isEmpty())).isTrue();
			});
	}

	@Test
	void aRegistryOfTheApplicationReplacesTheOneThatIsInjectedAndLeavesTheOthers() {
		DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore(this.own));
		this.runner.withBean("mine", LockRegistry.class, () -> registry).run((context) -> {
			assertThat(context.getBean(LockRegistry.class)).isSameAs(registry);
			assertThat(context).doesNotHaveBean("distributedLockRegistry").hasBean("redisLockRegistry");
		});
	}

	/** As the registries of Spring Integration usually have them. */
	@Test
	void anotherLibraryMayHaveABeanWithTheNameOfAKind() {
		this.runner.withBean("redisLockRegistry", Object.class, Object::new)
			.run((context) -> assertThat(innermost(context.getBean(LockRegistry.class)).name()).isEqualTo("redis"));
	}

	@Test
	void whileLocksAreDisabledAnotherLibraryMayHaveABeanWithTheNameOfAKind() {
		this.runner.withBean("redisLockRegistry", Object.class, Object::new)
			.withPropertyValues("distributed-lock.enabled=false")
			.run((context) -> {
				context.getBean(LockRegistry.class).acquire(STOCK).close();
				context.getBean("jdbcLockRegistry", LockRegistry.class).acquire(STOCK).close();
			});
	}

	@Test
	void aStoreOfAKindCanBeWrapped() {
		RedisDatabase redis = SharedServers.redis();
		this.runner.withUserConfiguration(WithFaults.class)
			.withPropertyValues("spring.data.redis.url=" + redis.url(), PATIENT)
			.run((context) -> {
				LockRegistry registry = context.getBean(LockRegistry.class);
				assertThat(innermost(registry).name()).isEqualTo("faulty");
				registry.acquire(STOCK.withWaitTime(Duration.ofMinutes(1))).close();
				assertThat(context.getBean(FaultInjectingStore.class).acquire.calls()).isPositive();
			});
	}

	@Test
	void disabledLocksOfAllRegistriesStayInTheJvm() {
		this.withFurther.withPropertyValues("distributed-lock.enabled=false").run((context) -> {
			for (String name : new String[] { "distributedLockRegistry", "reportLockRegistry" }) {
				try (Lease lease = context.getBean(name, LockRegistry.class).acquire(STOCK)) {
					assertThat(this.own.isEmpty() && this.further.isEmpty()).isTrue();
				}
			}
		});
	}

	@Test
	void requestsAndTemplatesUseTheSettingsOfTheirName() {
		this.withStore.withBean(Time.class, () -> this.time)
			.withPropertyValues("distributed-lock.locks.stock.hold-at-least=1h",
					"distributed-lock.locks.stock.lease-time=10m")
			.withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class, RedisOperations.class))
			.run((context) -> {
				LockRegistry registry = context.getBean(LockRegistry.class);
				try (Lease lease = registry.acquire(LockRequest.of("stock"))) {
					assertThat(lease.remaining()).isGreaterThan(Duration.ofMinutes(1));
				}
				registry.lock(LockKey.of("stock")).lock();
				registry.lock(LockKey.of("stock")).unlock();
				assertThat(this.own.isEmpty()).isTrue();
				context.getBean(LockTemplate.class).executeWithoutResult(STOCK, Lease::ensureHeld);
				assertThat(registry.tryAcquire(STOCK)).isEmpty();
				this.own.clear();
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class Reports {

		@Bean(defaultCandidate = false)
		LockStore reportLockStore(LockMemory memory) {
			return new MemoryLockStore(memory);
		}

		@Bean(defaultCandidate = false)
		@Qualifier("reports")
		LockRegistry reportLockRegistry(LockRegistryFactory registries, @Qualifier("reportLockStore") LockStore store) {
			return registries.create("reports", store);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Shelves {

		@Bean(defaultCandidate = false)
		LockRegistry shelfLockRegistry(LockRegistryFactory registries, @Qualifier("shelves") LockStore store) {
			return registries.create("shelves", store);
		}

	}

	@TestConfiguration(proxyBeanMethods = false)
	static class WithFaults {

		@Bean
		FaultInjectingStore faulty(@Qualifier("distributedLockRedisStore") RedisLockStore store) {
			return new FaultInjectingStore(store);
		}

	}

	public static class Shop {

		@DistributedLock(name = "stock")
		public boolean stock(Callable<Boolean> body) throws Exception {
			return body.call();
		}

		@DistributedLock(name = "stock", registry = "reportLockRegistry")
		public boolean stockOfReports(Callable<Boolean> body) throws Exception {
			return body.call();
		}

		@DistributedLock(name = "stock", registry = "${none:reports}")
		public boolean stockByQualifier(Callable<Boolean> body) throws Exception {
			return body.call();
		}

	}

	public static class Elsewhere {

		@DistributedLock(name = "stock", registry = "redisLockRegistry")
		public boolean run(Callable<Boolean> body) throws Exception {
			return body.call();
		}

	}

}
