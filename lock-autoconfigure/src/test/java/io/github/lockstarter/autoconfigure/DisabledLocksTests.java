// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.testsupport.WeavingClassLoader;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that has disabled locks.
 */
@ExtendWith(OutputCaptureExtension.class)
class DisabledLocksTests {

	private static final LockRequest STOCK = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class, RedisOperations.class))
		.withPropertyValues("distributed-lock.enabled=false");

	@Test
	void itStartsWithoutAStoreAndSaysOnceThatLocksAreLocal(CapturedOutput output) {
		this.runner.withBean(Shop.class).run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(LockStore.class);
			context.getBean(Shop.class).deduct(1001);
			context.getBean(Shop.class).deduct(1001);
		});
		assertThat(output.toString().split("distributed-lock.enabled=false", -1)).hasSize(2);
		assertThat(output).contains("WARN");
	}

	@Test
	void annotatedMethodsHaveALeaseWithAGrowingToken() {
		this.runner.withBean(Shop.class).run((context) -> {
			Shop shop = context.getBean(Shop.class);
			long first = shop.deduct(1001);
			assertThat(shop.deduct(1001)).isGreaterThan(first).isPositive();
			assertThat(shop.deductLater(1001).get(20, TimeUnit.SECONDS)).isGreaterThan(first);
		});
	}

	@Test
	void theTemplateRunsItsBodyWithALease() throws Exception {
		this.runner.run((context) -> {
			LockTemplate template = context.getBean(LockTemplate.class);
			LockKey key = template.execute(STOCK, (lease) -> {
				assertThat(Lease.current().fencingToken()).isEqualTo(lease.fencingToken());
				lease.ensureHeld();
				return lease.key();
			});
			assertThat(key).isEqualTo(STOCK.key());
			assertThat(template.executeAsync(STOCK, (lease) -> CompletableFuture.completedFuture(lease.key()))
				.get(20, TimeUnit.SECONDS)).isEqualTo(key);
		});
	}

	@Test
	void locksExcludeWithinTheJvmWhateverRegistryTheyName() {
		this.runner.withPropertyValues("distributed-lock.store=jdbc").withBean(Elsewhere.class).run((context) -> {
			LockRegistry registry = context.getBean(LockRegistry.class);
			for (String name : List.of("redisLockRegistry", "jdbcLockRegistry", "zooKeeperLockRegistry",
					"redlockLockRegistry")) {
				assertThat(context.getBean(name)).isSameAs(registry);
			}
			try (Lease lease = registry.acquire(STOCK)) {
				assertThat(lease.remaining()).isPositive();
				assertThat(Callers.start(() -> registry.tryAcquire(STOCK)).get()).isEmpty();
				assertThat(Callers.start(() -> context.getBean(Elsewhere.class).sell()).get()).isEmpty();
			}
			assertThat(Callers.start(() -> registry.tryAcquire(STOCK)).get()).hasValueSatisfying(Lease::close);
		});
	}

	@Test
	void wovenMethodsHaveALease() {
		WeavingClassLoader loader = WeavingClassLoader.of(WovenShop.class);
		this.runner.withClassLoader(loader)
			.withPropertyValues("distributed-lock.advice-mode=aspectj")
			.withBean(Tokens.class, () -> loader.create(Tokens.class, WovenShop.class))
			.run((context) -> assertThat(context.getBean(Tokens.class).deduct(1001)).isPositive());
	}

	public static class Shop {

		private final LockTemplate template;

		private final LockRegistry registry;

		public Shop(LockTemplate template, LockRegistry registry) {
			this.template = template;
			this.registry = registry;
		}

		@DistributedLock(name = "stock", key = "#id")
		public long deduct(long id) {
			this.template.execute(LockRequest.of("order", id), (lease) -> lease.isHeld());
			this.registry.acquire(LockRequest.of("order", id)).close();
			return Lease.current().fencingToken();
		}

		@DistributedLock(name = "stock", key = "#id")
		public CompletableFuture<Long> deductLater(long id) {
			return CompletableFuture.completedFuture(Lease.current().fencingToken());
		}

	}

	public static class Elsewhere {

		@DistributedLock(name = "stock", key = "'1001'", registry = "zooKeeperLockRegistry", waitTime = "0s",
				onContention = OnContention.SKIP)
		public Optional<Boolean> sell() {
			return Optional.of(true);
		}

	}

	public interface Tokens {

		long deduct(long id);

	}

	public static class WovenShop implements Tokens {

		@Override
		public long deduct(long id) {
			return locked(id);
		}

		@DistributedLock(name = "stock", key = "#id")
		private long locked(long id) {
			return Lease.current().fencingToken();
		}

	}

}
