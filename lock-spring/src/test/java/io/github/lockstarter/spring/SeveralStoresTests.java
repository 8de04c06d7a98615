// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.NameSettings;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.BlockingLockStore;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.LockStores;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.testsupport.CapturedLog;
import io.github.lockstarter.testsupport.OrdersDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A Spring application without Spring Boot, with several stores.
 */
@ExtendWith(CapturedLog.Extension.class)
class SeveralStoresTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	@Test
	void eachLockIsInItsStore() {
		try (AnnotationConfigApplicationContext context = start(Shop.class)) {
			LockMemory main = context.getBean("mainMemory", LockMemory.class);
			LockMemory small = context.getBean("otherMemory", LockMemory.class);
			Shop shop = context.getBean(Shop.class);
			shop.inDefault(() -> {
				assertThat(main.isEmpty()).isFalse();
				assertThat(small.isEmpty()).isTrue();
			});
			shop.inOther(() -> {
				assertThat(main.isEmpty()).isTrue();
				assertThat(small.isEmpty()).isFalse();
			});
			context.getBean(LockTemplate.class).execute(REQUEST.withStore("memory"), (lease) -> {
				assertThat(main.isEmpty() && small.isEmpty()).isTrue();
				return null;
			});
			assertThat(context.getBean(LockStores.class).names()).containsExactly("main", "memory", "other", "small",
					"unused");
			assertThat(context.getBeanFactory().containsSingleton("unused")).isFalse();
		}
	}

	@Test
	void anAliasIsTheSameStoreInAllInstances() {
		try (AnnotationConfigApplicationContext context = start(Shop.class)) {
			context.registerAlias("other", "aliasOfOther");
			try (Lease lease = context.getBean(LockRegistry.class).acquire(REQUEST.withStore("aliasOfOther"))) {
				assertThat(lease.store()).isEqualTo("other");
			}
		}
	}

	@Test
	void theSettingsOfANameAreThoseOfTheBean() {
		try (AnnotationConfigApplicationContext context = start(Settings.class, Shop.class)) {
			context.getBean(Shop.class)
				.inDefault(() -> assertThat(context.getBean("otherMemory", LockMemory.class).isEmpty()).isFalse());
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', value = {
			"Unknown | the lock is requested in the store 'paper', which does not exist. Stores: 'main' (the default),"
					+ " 'memory', 'other', 'small', 'unused'. Correct the name, or add the module or the LockStore bean"
					+ " for 'paper'.",
			"Fair | the lock is requested in mode FAIR, but the lock store 'small' grants EXCLUSIVE, WRITE only. Change"
					+ " the annotation, or use a store that supports it. Stores: 'main' (the default), 'memory', 'other',"
					+ " 'small', 'unused'.",
			"Kept | the lock is requested with 'holdAtLeast', but the lock store 'small' cannot keep a lock after its"
					+ " owner has released it. Change the annotation, or use a store that supports it. Stores:"
					+ " 'main' (the default), 'memory', 'other', 'small', 'unused'.",
			"Apart | its locks are in different stores: 'here' in 'main', and 'there' in 'other'. Keep locks that are"
					+ " acquired together in one store, or acquire them one after the other.",
			"Reader | the settings of the lock name 'kept' do not fit: 'holdAtLeast' is not possible in mode READ: one"
					+ " of several owners cannot keep a shared lock. Change the settings, or give the lock of this method"
					+ " a name of its own." })
	void aMethodWhoseStoreCannotKeepItsLockEndsTheStart(String bean, String problem) throws Exception {
		Class<?> type = Class.forName(getClass().getName() + '$' + bean);
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> start(Settings.class, type).close())
			.withMessage("Invalid @DistributedLock on '" + type.getName() + ".run()': " + problem);
	}

	@Test
	void aStartThatFailsCreatesNoStoreThatNothingNames() {
		AtomicBoolean created = new AtomicBoolean();
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(Stores.class, Settings.class, Kept.class);
			context.registerBean("idle", LockStore.class, () -> {
				created.set(true);
				return new MemoryLockStore();
			}, (definition) -> definition.setLazyInit(true));
			assertThatExceptionOfType(InvalidLockDefinitionException.class).isThrownBy(context::refresh);
		}
		assertThat(created).isFalse();
	}

	@Test
	void withoutAPrimaryStoreThereIsNoDefault() {
		assertThatThrownBy(() -> new AnnotationConfigApplicationContext(WithoutPrimary.class).close()).rootCause()
			.isInstanceOf(NoUniqueBeanDefinitionException.class)
			.hasMessageContaining("one,two");
	}

	@Test
	void aNameInTwoStoresAndANameWithoutAMethodAreWarnedOf(CapturedLog log) {
		start(Settings.class, Shop.class, Twin.class).close();
		assertThat(log.toString().lines().filter((line) -> line.contains("There are settings"))).singleElement()
			.asString()
			.endsWith(
					"There are settings for the lock names 'kept', 'order.place', 'small', which no @DistributedLock has."
							+ " Correct misspelt names; for locks that only a LockRegistry or a LockTemplate acquires, ignore"
							+ " this warning");
		assertThat(log.toString().lines().filter((line) -> line.contains("an owner in one store"))).singleElement()
			.asString()
			.contains("Lock 'twin' is in the store '", "' for '" + Twin.class.getName() + ".")
			.endsWith("': an owner in one store does not exclude an owner in the other");
	}

	@Test
	void aSingleNameWithoutAMethodIsWarnedOf(CapturedLog log) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(Stores.class, Shop.class);
			context.registerBean(LockSettings.class, () -> new LockSettings(Map.of("her", NameSettings.NONE)));
			context.refresh();
		}
		assertThat(log.toString())
			.contains("There are settings for the lock name 'her', which no @DistributedLock has.");
	}

	@Test
	void aGoodStartWarnsOfNothing(CapturedLog log) {
		start(Shop.class).close();
		assertThat(log).isEmpty();
	}

	@Test
	void theLocksOfAllStoresOutliveTheTransaction() {
		try (AnnotationConfigApplicationContext context = start(Shop.class)) {
			LockRegistry registry = context.getBean(LockRegistry.class);
			LockMemory main = context.getBean("mainMemory", LockMemory.class);
			LockMemory other = context.getBean("otherMemory", LockMemory.class);
			new TransactionTemplate(context.getBean(JdbcTransactionManager.class)).executeWithoutResult((status) -> {
				registry.acquire(REQUEST).close();
				context.getBean(Shop.class).inOther(() -> {
				});
				assertThat(main.isEmpty() || other.isEmpty()).isFalse();
				assertThat(CompletableFuture.supplyAsync(() -> registry.tryAcquire(REQUEST)).join()).isEmpty();
			});
			assertThat(main.isEmpty() && other.isEmpty()).isTrue();
		}
	}

	@Test
	void shutdownWaitsForTheHoldersInAllStores() throws Exception {
		AnnotationConfigApplicationContext context = start(Shop.class);
		LockRegistry registry = context.getBean(LockRegistry.class);
		LockMemory main = context.getBean("mainMemory", LockMemory.class);
		LockMemory other = context.getBean("otherMemory", LockMemory.class);
		LeaseSet here = registry.acquire(REQUEST);
		LeaseSet there = registry.acquire(REQUEST.withStore("other"));
		CompletableFuture<Void> closing = CompletableFuture.runAsync(context::close);
		for (String store : new String[] { "main", "other" }) {
			LockRequest newcomer = LockRequest.of("order").withWaitTime(Duration.ZERO).withStore(store);
			Awaitility.await()
				.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> registry.tryAcquire(newcomer).ifPresent(Lease::close)));
		}
		here.close();
		assertThat(closing).isNotDone();
		there.ensureHeld();
		there.close();
		closing.get(30, TimeUnit.SECONDS);
		assertThat(main.isEmpty() && other.isEmpty()).isTrue();
	}

	private static AnnotationConfigApplicationContext start(Class<?>... beans) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.register(Stores.class);
		context.register(beans);
		context.refresh();
		return context;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	@Import(OrdersDatabase.class)
	static class Stores {

		@Bean
		LockMemory mainMemory() {
			return new LockMemory();
		}

		@Bean
		LockMemory otherMemory() {
			return new LockMemory();
		}

		@Bean
		@Primary
		LockStore main(LockMemory mainMemory) {
			return new MemoryLockStore(mainMemory);
		}

		@Bean
		LockStore other(LockMemory otherMemory) {
			return new MemoryLockStore(otherMemory);
		}

		@Bean
		LockStore small() {
			return new SmallStore();
		}

		@Bean
		@Lazy
		LockStore unused() {
			return new MemoryLockStore();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class WithoutPrimary {

		@Bean
		LockStore one() {
			return new MemoryLockStore();
		}

		@Bean
		LockStore two() {
			return new MemoryLockStore();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Settings {

		@Bean
		LockSettings lockSettings() {
			return new LockSettings(Map.of("here", NameSettings.NONE.withStore("other"), "order.place",
					NameSettings.NONE, "small", NameSettings.NONE.withStore("small"), "kept",
					NameSettings.NONE.withHoldAtLeast(Duration.ofSeconds(1))));
		}

	}

	static class Shop {

		@DistributedLock(name = "here")
		public void inDefault(Runnable body) {
			body.run();
		}

		@DistributedLock(name = "there", store = "other")
		public void inOther(Runnable body) {
			body.run();
		}

	}

	static class Twin {

		@DistributedLock(name = "twin")
		public void here() {
		}

		@DistributedLock(name = "twin", store = "other")
		public void there() {
		}

	}

	static class Unknown {

		@DistributedLock(store = "paper")
		public void run() {
		}

	}

	static class Fair {

		@DistributedLock(name = "small", mode = LockMode.FAIR)
		public void run() {
		}

	}

	static class Kept {

		@DistributedLock(name = "report", store = "small", holdAtLeast = "1s")
		public void run() {
		}

	}

	static class Apart {

		@DistributedLock(name = "here", store = "main")
		@DistributedLock(name = "there", store = "other")
		public void run() {
		}

	}

	static class Reader {

		@DistributedLock(name = "kept", mode = LockMode.READ)
		public void run() {
		}

	}

	static class SmallStore extends BlockingLockStore {

		@Override
		protected LockAttempt tryAcquire(LeaseRequest request) {
			return new LockGrant(1, false);
		}

		@Override
		protected boolean tryRenew(LeaseRequest request) {
			return true;
		}

		@Override
		protected boolean tryRelease(LockKey key, OwnerToken owner) {
			return true;
		}

	}

}
