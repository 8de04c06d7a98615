// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.order;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCache;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;
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
@SpringBootTest(classes = CacheOrderTests.CacheInside.class, webEnvironment = SpringBootTest.WebEnvironment.NONE)
@TestPropertySource(properties = { "distributed-lock.store=memory", "distributed-lock.wait-time=1m",
		"spring.datasource.generate-unique-name=true" })
class CacheOrderTests {

	private static final Price PRICE = new Price(990);

	@Autowired
	private LockWatch watch;

	@Autowired
	private LockRegistry registry;

	@Autowired
	private Catalogue catalogue;

	@Autowired
	private CacheManager caches;

	@BeforeEach
	void forget() {
		this.caches.getCacheNames().forEach((name) -> this.caches.getCache(name).clear());
		this.watch.forget();
	}

	@Test
	void aHitOfACacheInsideTheLockWaits() {
		this.catalogue.price(1001);
		assertContended();
	}

	@Test
	void aWaiterOfACacheInsideTheLockFindsWhatTheOwnerBeforeHasCached() {
		assertThat(computationsOfTwo(this.catalogue::patientPrice)).isOne();
	}

	@Test
	void withTheCacheOnBothBeansAHitDoesNotWaitAndAMissIsComputedOnceAndCachedBeforeTheRelease(
			@Autowired Prices prices) {
		assertThat(computationsOfTwo(prices::price)).isOne();
		try (Lease held = another()) {
			assertThat(held.isHeld()).isTrue();
			assertThat(prices.price(1001)).isEqualTo(PRICE);
		}
		forget();
		prices.price(1001);
		assertThat(this.watch.steps()).containsExactly("acquired", "computed", "put", "released");
	}

	@Test
	void aCacheInsideTheLockIsUpdatedAfterTheCommitAndBeforeTheRelease() {
		assertThat(steps(this.catalogue::change)).containsExactly("acquired", "body", "committed", "evicted",
				"released");
		assertThat(steps(this.catalogue::replace)).containsExactly("acquired", "body", "committed", "put", "released");
	}

	@Nested
	@SpringBootTest(classes = CacheOutside.class, webEnvironment = SpringBootTest.WebEnvironment.NONE)
	class Outside {

		@Test
		void aHitOfACacheOutsideTheLockDoesNotWait() {
			assertContended();
			CacheOrderTests.this.catalogue.price(1001);
			try (Lease held = another()) {
				assertThat(held.isHeld()).isTrue();
				assertThat(CacheOrderTests.this.catalogue.price(1001)).isEqualTo(PRICE);
			}
		}

		@Test
		void aWaiterOfACacheOutsideTheLockComputesAgain() {
			assertThat(computationsOfTwo(CacheOrderTests.this.catalogue::patientPrice)).isEqualTo(2);
		}

		@Test
		void aCacheOutsideTheLockIsUpdatedAfterTheRelease() {
			assertThat(steps(CacheOrderTests.this.catalogue::change)).containsExactly("acquired", "body", "committed",
					"released", "evicted");
			assertThat(steps(CacheOrderTests.this.catalogue::replace)).containsExactly("acquired", "body", "committed",
					"released", "put");
		}

	}

	private void assertContended() {
		try (Lease held = another()) {
			assertThat(held.isHeld()).isTrue();
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.catalogue.price(1001));
		}
	}

	private List<String> steps(LongConsumer call) {
		this.watch.forget();
		call.accept(1001);
		return List.copyOf(this.watch.steps());
	}

	private Lease another() {
		return this.watch.heldByAnother(this.registry);
	}

	/**
	 * Return how often a value is computed if two callers miss it before either has the
	 * lock.
	 */
	private long computationsOfTwo(LongConsumer call) {
		List<CompletableFuture<Void>> callers;
		try (Lease held = another()) {
			assertThat(held.isHeld()).isTrue();
			callers = Stream
				.generate(() -> CompletableFuture.runAsync(() -> call.accept(1001), (task) -> new Thread(task).start()))
				.limit(2)
				.toList();
			this.watch.awaitWaiters(2);
		}
		callers.forEach((caller) -> assertThat(caller).succeedsWithin(20, TimeUnit.SECONDS));
		return this.watch.steps().stream().filter("computed"::equals).count();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
	@Import({ Beans.class, Catalogue.class, Prices.class, LockedPrices.class })
	@EnableCaching
	static class CacheInside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
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
