// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.Optional;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.engine.Time;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.redis.RedisLockStore;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.LockStores;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application that keeps locks in several stores.
 */
class SeveralStoresTests {

	private static final LockRequest STOCK = LockRequest.of("stock").withWaitTime(Duration.ZERO);

	/**
	 * The first connection of a JVM may take longer than a caller waits for an answer.
	 */
	private static final String PATIENT = "distributed-lock.waiting.outage-time=1m";

	private final ManualTime time = new ManualTime();

	private final LockMemory first = new LockMemory(this.time);

	private final LockMemory second = new LockMemory(this.time);

	private final EmbeddedDatabase database = new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2)
		.generateUniqueName(true)
		.build();

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(DataRedisAutoConfiguration.class, DistributedLockAutoConfiguration.class));

	private final ApplicationContextRunner twoBeans = this.runner
		.withBean("first", LockStore.class, () -> new MemoryLockStore(this.first))
		.withBean("second", LockStore.class, () -> new MemoryLockStore(this.second))
		.withPropertyValues("distributed-lock.store=first");

	@AfterEach
	void nothingIsLeft() {
		assertThat(this.first.isEmpty() && this.second.isEmpty()).isTrue();
		this.database.shutdown();
	}

	@Test
	void anApplicationThatUsesRedisOnlyHasNoOtherStore() {
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(LockStore.class)
				.hasSingleBean(RedisLockStore.class)
				.hasSingleBean(DefaultLockRegistry.class);
			LockStores stores = context.getBean(LockStores.class);
			assertThat(stores.defaultName()).isEqualTo("redis");
			assertThat(stores.names()).containsExactly("memory", "redis");
		});
	}

	@Test
	void aKindOfStoreIsCreatedWhenSomethingNamesIt() {
		RedisDatabase redis = SharedServers.redis();
		this.twoBeans.withPropertyValues("spring.data.redis.url=" + redis.url(), PATIENT).run((context) -> {
			String bean = "distributedLockStore.redis";
			assertThat(context).hasBean("first").getBeanNames(LockStore.class).contains(bean);
			LockRegistry registry = context.getBean(LockRegistry.class);
			registry.acquire(STOCK).close();
			assertThat(context.getBeanFactory().containsSingleton(bean)).isFalse();
			try (Lease lease = registry.acquire(STOCK.withStore("redis").withWaitTime(Duration.ofMinutes(1)))) {
				assertThat(context.getBeanFactory().containsSingleton(bean)).isTrue();
				assertThat(redis.command("EXISTS", "lock:{stock}")).isEqualTo("1");
			}
		});
	}

	@ParameterizedTest
	@CsvSource({ "memory, memory", "Memory, memory", "redis, redis", "REDIS, redis", "second, second" })
	void thePropertyNamesTheDefaultStore(String property, String name) {
		this.twoBeans.withPropertyValues("distributed-lock.store=" + property).run((context) -> {
			LockStores stores = context.getBean(LockStores.class);
			assertThat(stores.defaultName()).isEqualTo(name);
			assertThat(stores.describe()).contains("'" + name + "' (the default)");
		});
	}

	@Test
	void aSingleBeanIsTheDefaultStore() {
		this.runner.withBean("only", LockStore.class, () -> new MemoryLockStore(this.first))
			.run((context) -> assertThat(context.getBean(LockStores.class).defaultName()).isEqualTo("only"));
	}

	@Test
	void aPrimaryBeanIsTheDefaultStore() {
		this.twoBeans.withPropertyValues("distributed-lock.store=auto")
			.withBean("third", LockStore.class, () -> new MemoryLockStore(), (bean) -> bean.setPrimary(true))
			.run((context) -> assertThat(context.getBean(LockStores.class).defaultName()).isEqualTo("third"));
	}

	@Test
	void theOnlyKindOfStoreIsTheDefaultAndOneOfSeveralMustBeNamed() {
		ApplicationContextRunner paper = this.runner.withBean("distributedLockStore.paper", LockStore.class,
				() -> new MemoryLockStore(this.first), (bean) -> bean.setLazyInit(true));
		paper.withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class, RedisOperations.class))
			.run((context) -> assertThat(context.getBean(LockStores.class).defaultName()).isEqualTo("paper"));
		paper.withPropertyValues("distributed-lock.store=paper")
			.run((context) -> assertThat(context.getBean(LockStores.class).defaultName()).isEqualTo("paper"));
		paper.run((context) -> assertThat(context).getFailure()
			.rootCause()
			.isInstanceOf(LockStoreNotFoundException.class)
			.hasMessage("Distributed locks need one default store, but there are several kinds of stores on the class"
					+ " path: 'paper', 'redis'"));
	}

	@Test
	void theMemoryIsThereWithoutABean() {
		this.twoBeans.withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class, RedisOperations.class))
			.run((context) -> {
				try (Lease lease = context.getBean(LockRegistry.class).acquire(STOCK.withStore("memory"))) {
					assertThat(this.first.isEmpty() && this.second.isEmpty()).isTrue();
				}
				assertThat(context.getBean(LockStores.class).names()).containsExactly("first", "memory", "second");
			});
	}

	@Test
	void annotationThenSettingsThenDefault() {
		this.twoBeans.withBean(Shop.class)
			.withPropertyValues("distributed-lock.locks.stock.store=second",
					"distributed-lock.locks[Shop.order].wait-time=0s",
					"distributed-lock.locks[Shop.order].on-contention=skip")
			.run((context) -> {
				Shop shop = context.getBean(Shop.class);
				assertThat(shop.stock(this::isInFirst)).contains(false);
				assertThat(shop.stockInFirst(this::isInFirst)).contains(true);
				assertThat(shop.order(this::isInFirst)).contains(true);
				assertThat(shop.order(() -> orderElsewhere(shop))).contains(true);
				assertThatExceptionOfType(LockContendedException.class)
					.isThrownBy(() -> shop.order(() -> orderElsewhereOrThrow(shop)));
			});
	}

	private boolean isInFirst() {
		return !this.first.isEmpty() && this.second.isEmpty();
	}

	private static boolean orderElsewhere(Shop shop) throws Exception {
		return Callers.start(() -> shop.order(() -> true)).get().isEmpty();
	}

	private static boolean orderElsewhereOrThrow(Shop shop) throws Exception {
		return Callers.start(() -> shop.orderOrThrow(() -> true)).get().isEmpty();
	}

	@Test
	void requestsAndTemplatesUseTheSettingsOfTheirName() {
		this.twoBeans
			.withPropertyValues("distributed-lock.locks.stock.store=second",
					"distributed-lock.locks.stock.hold-at-least=1h", "distributed-lock.locks.stock.lease-time=10m")
			.run((context) -> {
				LockRegistry registry = context.getBean(LockRegistry.class);
				try (Lease lease = registry.acquire(LockRequest.of("stock"))) {
					assertThat(lease.remaining()).isGreaterThan(Duration.ofMinutes(1));
					assertThat(isInFirst()).isFalse();
				}
				registry.lock(LockKey.of("stock")).lock();
				assertThat(this.second.isEmpty()).isFalse();
				registry.lock(LockKey.of("stock")).unlock();
				assertThat(this.second.isEmpty()).isTrue();
				context.getBean(LockTemplate.class).execute(STOCK, Lease::fencingToken);
				assertThat(registry.tryAcquire(STOCK)).isEmpty();
				this.second.clear();
			});
	}

	@Test
	void aLockWhoseNameLimitsItsLeaseTakesPartInTransactions() {
		this.twoBeans.withBean(JdbcTransactionManager.class, () -> new JdbcTransactionManager(this.database))
			.withBean(Time.class, () -> this.time)
			.withPropertyValues("distributed-lock.locks.stock.lease-time=20ms",
					"distributed-lock.locks.order.store=second")
			.run((context) -> {
				LockRegistry registry = context.getBean(LockRegistry.class);
				TransactionTemplate transaction = new TransactionTemplate(
						context.getBean(JdbcTransactionManager.class));
				Lease expiring = registry.acquire(STOCK);
				this.time.advance(Duration.ofMillis(20));
				assertThat(expiring.isHeld()).isFalse();
				// From when on the lease is surely over is measured on the real clock
				Awaitility.await()
					.pollInSameThread()
					.ignoreException(LockLostException.class)
					.until(() -> transaction.execute((status) -> {
						registry.acquire(LockRequest.of("order")).close();
						registry.acquire(LockRequest.of("report")).close();
						return !this.first.isEmpty() && !this.second.isEmpty();
					}));
				assertThat(this.first.isEmpty() && this.second.isEmpty()).isTrue();
			});
	}

	@Test
	void aBeanWithTheNameOfAKindWrapsIt() {
		RedisDatabase redis = SharedServers.redis();
		this.runner.withUserConfiguration(WithFaults.class)
			.withPropertyValues("spring.data.redis.url=" + redis.url(), PATIENT)
			.run((context) -> {
				assertThat(context.getBean(LockStores.class).defaultName()).isEqualTo("redis");
				LockRegistry registry = context.getBean(LockRegistry.class);
				FaultInjectingStore store = context.getBean(FaultInjectingStore.class);
				registry.acquire(STOCK.withStore("redis").withWaitTime(Duration.ofMinutes(1))).close();
				assertThat(store.acquire.calls()).isPositive();
				store.acquire.loseRequests(() -> true);
				assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquire(STOCK));
			});
	}

	@Test
	void theSettingsOfTheEngineAreThoseOfAllStores() {
		this.twoBeans.withPropertyValues("distributed-lock.lease-time=5s").run((context) -> {
			assertThat(context).hasSingleBean(EngineSettings.class).hasSingleBean(LockSettings.class);
			for (String store : new String[] { "first", "second" }) {
				try (Lease lease = context.getBean(LockRegistry.class).acquire(STOCK.withStore(store))) {
					assertThat(lease.remaining().toSeconds()).isLessThanOrEqualTo(5);
				}
			}
		});
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class WithFaults {

		@Bean
		LockStore redis(@Qualifier("distributedLockStore.redis") LockStore store) {
			return new FaultInjectingStore(store);
		}

	}

	interface Body {

		boolean run() throws Exception;

	}

	static class Shop {

		@DistributedLock(name = "stock")
		public Optional<Boolean> stock(Body body) throws Exception {
			return Optional.of(body.run());
		}

		@DistributedLock(name = "stock", store = "first")
		public Optional<Boolean> stockInFirst(Body body) throws Exception {
			return Optional.of(body.run());
		}

		@DistributedLock(name = "Shop.order")
		public Optional<Boolean> order(Body body) throws Exception {
			return Optional.of(body.run());
		}

		@DistributedLock(name = "Shop.order", onContention = OnContention.THROW)
		public Optional<Boolean> orderOrThrow(Body body) throws Exception {
			return Optional.of(body.run());
		}

	}

}
