// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.order;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.Cache;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCache;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The order of a lock and a cache: the lock is outside by default, and a cache of another
 * bean or with an order of its own is outside the lock.
 */
class CacheOrderTests {

	private static final Price PRICE = new Price(990);

	@Test
	void aHitOfACacheInsideTheLockWaits() {
		run(CacheInside.class, (context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			catalogue.price(1001);
			try (Lease held = another(context)) {
				assertThat(held.isHeld()).isTrue();
				assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> catalogue.price(1001));
			}
		});
	}

	@Test
	void aWaiterFindsWhatTheOwnerBeforeHasCached() {
		run(CacheInside.class,
				(context) -> assertThat(computationsOfTwo(context, context.getBean(Catalogue.class)::patientPrice))
					.isOne());
	}

	@Test
	void aHitOfACacheOutsideTheLockDoesNotWait() {
		run(CacheOutside.class, (context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			try (Lease held = another(context)) {
				assertThat(held.isHeld()).isTrue();
				assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> catalogue.price(1001));
			}
			catalogue.price(1001);
			try (Lease held = another(context)) {
				assertThat(held.isHeld()).isTrue();
				assertThat(catalogue.price(1001)).isEqualTo(PRICE);
			}
		});
	}

	@Test
	void aWaiterOfACacheOutsideTheLockComputesAgain() {
		run(CacheOutside.class,
				(context) -> assertThat(computationsOfTwo(context, context.getBean(Catalogue.class)::patientPrice))
					.isEqualTo(2));
	}

	@Test
	void withTheCacheOnBothBeansAHitDoesNotWaitAndAMissIsComputedOnce() {
		run(CacheInside.class, (context) -> {
			Prices prices = context.getBean(Prices.class);
			assertThat(computationsOfTwo(context, prices::price)).isOne();
			try (Lease held = another(context)) {
				assertThat(held.isHeld()).isTrue();
				assertThat(prices.price(1001)).isEqualTo(PRICE);
			}
		});
	}

	@Test
	void withTheCacheOnBothBeansAMissIsCachedBeforeTheRelease() {
		run(CacheInside.class, (context) -> {
			context.getBean(Prices.class).price(1001);
			assertThat(context.getBean(LockWatch.class).steps()).containsExactly("acquired", "computed", "put",
					"released");
		});
	}

	@Test
	void aCacheInsideTheLockIsUpdatedAfterTheCommitAndBeforeTheRelease() {
		run(CacheInside.class, (context) -> {
			assertThat(steps(context, (catalogue) -> catalogue.change(1001))).containsExactly("acquired", "body",
					"committed", "evicted", "released");
			assertThat(steps(context, (catalogue) -> catalogue.replace(1001))).containsExactly("acquired", "body",
					"committed", "put", "released");
		});
	}

	@Test
	void aCacheOutsideTheLockIsUpdatedAfterTheRelease() {
		run(CacheOutside.class, (context) -> {
			assertThat(steps(context, (catalogue) -> catalogue.change(1001))).containsExactly("acquired", "body",
					"committed", "released", "evicted");
			assertThat(steps(context, (catalogue) -> catalogue.replace(1001))).containsExactly("acquired", "body",
					"committed", "released", "put");
		});
	}

	private static List<String> steps(ConfigurableApplicationContext context, Consumer<Catalogue> call) {
		LockWatch watch = context.getBean(LockWatch.class);
		watch.forget();
		call.accept(context.getBean(Catalogue.class));
		return watch.steps();
	}

	private static Lease another(ConfigurableApplicationContext context) {
		return context.getBean(LockWatch.class).heldByAnother(context.getBean(LockRegistry.class));
	}

	/**
	 * Return how often a value is computed if two callers miss it before either has the
	 * lock.
	 */
	private static long computationsOfTwo(ConfigurableApplicationContext context, Consumer<Long> call) {
		LockWatch watch = context.getBean(LockWatch.class);
		List<CompletableFuture<Void>> callers;
		try (Lease held = another(context)) {
			assertThat(held.isHeld()).isTrue();
			callers = Stream
				.generate(
						() -> CompletableFuture.runAsync(() -> call.accept(1001L), (task) -> new Thread(task).start()))
				.limit(2)
				.toList();
			watch.awaitWaiters(2);
		}
		callers.forEach((caller) -> assertThat(caller).succeedsWithin(20, TimeUnit.SECONDS));
		return watch.steps().stream().filter("computed"::equals).count();
	}

	private static void run(Class<?> configuration, Consumer<ConfigurableApplicationContext> test) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(configuration)
			.web(WebApplicationType.NONE)
			.properties("distributed-lock.store=memory", "distributed-lock.wait-time=1m",
					"spring.datasource.generate-unique-name=true")
			.run()) {
			test.accept(context);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Beans.class, Catalogue.class, Prices.class, LockedPrices.class })
	@EnableCaching
	static class CacheInside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Beans.class, Catalogue.class })
	@EnableCaching(order = DistributedLockAdvisor.DEFAULT_ORDER - 1)
	static class CacheOutside {

	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		LockWatch watch() {
			return new LockWatch(LockKey.of("price", 1001));
		}

		@Bean
		Supplier supplier(LockWatch watch) {
			return (productId) -> {
				watch.add("computed");
				return PRICE;
			};
		}

		@Bean
		ConcurrentMapCacheManager cacheManager(LockWatch watch) {
			return new ConcurrentMapCacheManager() {

				@Override
				protected Cache createConcurrentMapCache(String name) {
					return new WatchedCache(name, watch);
				}

			};
		}

	}

	static class WatchedCache extends ConcurrentMapCache {

		private final LockWatch watch;

		WatchedCache(String name, LockWatch watch) {
			super(name);
			this.watch = watch;
		}

		@Override
		public void put(Object key, Object value) {
			super.put(key, value);
			this.watch.add("put");
		}

		@Override
		public void evict(Object key) {
			super.evict(key);
			this.watch.add("evicted");
		}

	}

	record Price(int cents) {

	}

	static class Catalogue {

		private final LockWatch watch;

		private final Supplier supplier;

		Catalogue(LockWatch watch, Supplier supplier) {
			this.watch = watch;
			this.supplier = supplier;
		}

		@Cacheable("prices")
		@DistributedLock(name = "price", key = "#productId", waitTime = "0s")
		public Price price(long productId) {
			return PRICE;
		}

		@Cacheable("prices")
		@DistributedLock(name = "price", key = "#productId")
		public Price patientPrice(long productId) {
			return this.supplier.ask(productId);
		}

		@CacheEvict("prices")
		@DistributedLock(name = "price", key = "#productId")
		@Transactional
		public void change(long productId) {
			this.watch.addInTransaction("body");
		}

		@CachePut("prices")
		@DistributedLock(name = "price", key = "#productId")
		@Transactional
		public Price replace(long productId) {
			this.watch.addInTransaction("body");
			return PRICE;
		}

	}

	static class Prices {

		private final LockedPrices lockedPrices;

		Prices(LockedPrices lockedPrices) {
			this.lockedPrices = lockedPrices;
		}

		@Cacheable(cacheNames = "prices", unless = "true")
		public Price price(long productId) {
			return this.lockedPrices.price(productId);
		}

	}

	static class LockedPrices {

		private final Supplier supplier;

		LockedPrices(Supplier supplier) {
			this.supplier = supplier;
		}

		@Cacheable("prices")
		@DistributedLock(name = "price", key = "#productId")
		public Price price(long productId) {
			return this.supplier.ask(productId);
		}

	}

	interface Supplier {

		Price ask(long productId);

	}

}
