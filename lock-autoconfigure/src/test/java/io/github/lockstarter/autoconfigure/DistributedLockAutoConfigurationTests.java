// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.redis.RedisLockStore;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;
import io.github.lockstarter.spring.EnableDistributedLocks;
import io.github.lockstarter.spring.LockRegistryFactory;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DistributedLockAutoConfigurationTests {

	/**
	 * The first connection of a JVM may take longer than a caller waits for an answer.
	 */
	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataRedisAutoConfiguration.class,
				DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.wait-time=1m", "distributed-lock.waiting.outage-time=1m");

	private final ApplicationContextRunner memory = this.runner.withPropertyValues("distributed-lock.store=memory");

	@Test
	void withoutConfigurationTheLocksAreInTheRedisOfTheApplication() {
		RedisDatabase redis = SharedServers.redis();
		this.runner.withUserConfiguration(Shop.class)
			.withPropertyValues("spring.data.redis.url=" + redis.url())
			.run((context) -> {
				assertThat(context).hasSingleBean(RedisLockStore.class).hasSingleBean(LockRegistryFactory.class);
				assertThat(context.getBean(Stock.class).deduct(1001)).isEqualTo(LockKey.of("stock", 1001));
				try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001))) {
					assertThat(redis.command("EXISTS", "lock:{stock:1001}")).isEqualTo("1");
				}
			});
	}

	@Test
	void anApplicationStartsWhileRedisIsDown() {
		this.runner.withPropertyValues("spring.data.redis.port=1")
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(RedisLockStore.class));
	}

	@Test
	void propertiesReachTheLocks() {
		RedisDatabase redis = SharedServers.redis();
		this.runner
			.withPropertyValues("spring.data.redis.url=" + redis.url(), "distributed-lock.key-prefix=shop/",
					"distributed-lock.lease-time=5s", "distributed-lock.advice-order=42",
					"distributed-lock.redis.fence-retention=1h")
			.run((context) -> {
				try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001))) {
					assertThat(lease.isHeld()).isTrue();
					assertThat(redis.command("EXISTS", "shop/{stock:1001}")).isEqualTo("1");
					assertThat(Long.parseLong(redis.command("PTTL", "shop/{stock:1001}:fence"))).isBetween(1_000_000L,
							3_600_000L);
				}
				assertThat(context.getBean(EngineSettings.class).leaseTime()).hasSeconds(5);
				assertThat(context.getBean(DistributedLockAdvisor.class).getOrder()).isEqualTo(42);
			});
	}

	@Test
	void theAnnotationForApplicationsWithoutSpringBootDoesNoHarm() {
		this.memory.withUserConfiguration(Enabled.class)
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(DistributedLockAdvisor.class)
				.hasSingleBean(LockTemplate.class));
	}

	@Test
	void theMemoryStoreNeedsNoRedis() {
		this.memory.withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class, RedisOperations.class))
			.withUserConfiguration(Shop.class)
			.run((context) -> {
				assertThat(context).doesNotHaveBean(LockStore.class);
				assertThat(context.getBean(Stock.class).deduct(1001)).isEqualTo(LockKey.of("stock", 1001));
			});
	}

	@Test
	void theUsersStoreWins() {
		LockMemory memory = new LockMemory();
		LockStore store = new MemoryLockStore(memory);
		this.runner.withBean(LockStore.class, () -> store).run((context) -> {
			assertThat(context.getBean(LockStore.class)).isSameAs(store);
			try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001))) {
				assertThat(memory.isEmpty()).isFalse();
			}
		});
	}

	@Test
	void theUsersRegistryWins() {
		LockRegistry registry = Mockito.mock();
		this.runner.withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class, RedisOperations.class))
			.withBean(LockRegistry.class, () -> registry)
			.run((context) -> {
				assertThat(context).getBean(LockRegistry.class).isSameAs(registry);
				assertThat(context).doesNotHaveBean("distributedLockRegistry");
			});
	}

	@Test
	void theUsersTemplateWins() {
		LockTemplate template = new LockTemplate(Mockito.mock());
		this.memory.withBean("ownTemplate", LockTemplate.class, () -> template)
			.run((context) -> assertThat(context.getBean(LockTemplate.class)).isSameAs(template));
	}

	@Test
	void theUsersDefaultRegistryIsDrainedAtShutdown() {
		DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore());
		this.memory.withBean(DefaultLockRegistry.class, () -> registry).run((context) -> {
			assertThat(context).hasSingleBean(DefaultLockRegistry.class);
			registry.acquire(LockRequest.of("stock")).close();
			context.getBean(LockRegistryFactory.class).stop();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> registry.acquire(LockRequest.of("stock")));
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "spring.aop.auto=false", "spring.aop.proxy-target-class=false" })
	void locksNeedNoOtherProxies(String property) {
		this.memory.withUserConfiguration(Shop.class)
			.withPropertyValues(property)
			.run((context) -> assertThat(context.getBean(Stock.class).deduct(1001))
				.isEqualTo(LockKey.of("stock", 1001)));
	}

	@Test
	void theUsersListenersGetAllEventsAndTheApplicationGetsTrouble() {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		LockMemory locks = new LockMemory();
		this.runner.withBean(LockStore.class, () -> new MemoryLockStore(locks))
			.withBean(LockListener.class, () -> events::add)
			.withBean(Listener.class)
			.run((context) -> {
				Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001));
				locks.clear();
				assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
				List<Object> published = context.getBean(Listener.class).events;
				Awaitility.await().until(() -> !published.isEmpty());
				assertThat(published).singleElement().isInstanceOf(LockEvent.Lost.class);
				assertThat(events).hasExactlyElementsOfTypes(LockEvent.Acquired.class, LockEvent.Lost.class);
			});
	}

	@Test
	void aClosedContextGivesNoLocks() {
		this.memory.run((context) -> {
			LockRegistry registry = context.getBean(LockRegistry.class);
			context.getSourceApplicationContext(ConfigurableApplicationContext.class).close();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> registry.acquire(LockRequest.of("stock", 1001)))
				.withMessageContaining("shutting down");
		});
	}

	@Test
	void aClosingContextLetsHoldersFinishWhileRedisCanStillBeAsked() {
		RedisDatabase redis = SharedServers.redis();
		this.runner.withUserConfiguration(Shop.class)
			.withPropertyValues("spring.data.redis.url=" + redis.url())
			.run((context) -> {
				Stock stock = context.getBean(Stock.class);
				CountDownLatch inside = new CountDownLatch(1);
				CountDownLatch mayEnd = new CountDownLatch(1);
				Call<Boolean> holder = Callers.start(() -> stock.holdUntil(inside, mayEnd));
				assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
				Call<Boolean> closing = Callers.start(() -> {
					context.getSourceApplicationContext(ConfigurableApplicationContext.class).close();
					return true;
				}).awaitParked();
				assertThat(redis.command("EXISTS", "lock:{holding}")).isEqualTo("1");
				mayEnd.countDown();
				assertThat(holder.get()).isTrue();
				assertThat(closing.get()).isTrue();
				assertThat(redis.command("EXISTS", "lock:{holding}")).isEqualTo("0");
			});
	}

	static class Listener {

		final List<Object> events = new CopyOnWriteArrayList<>();

		@EventListener
		void on(LockEvent event) {
			this.events.add(event);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Shop {

		@Bean
		Stock stock() {
			return new Stock();
		}

	}

	public static class Stock {

		@DistributedLock(name = "holding")
		public boolean holdUntil(CountDownLatch inside, CountDownLatch mayEnd) throws InterruptedException {
			inside.countDown();
			boolean ended = mayEnd.await(20, TimeUnit.SECONDS);
			Lease.current().ensureHeld();
			return ended;
		}

		@DistributedLock(name = "stock", key = "#productId")
		public LockKey deduct(long productId) {
			return Lease.current().key();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class Enabled {

	}

}
