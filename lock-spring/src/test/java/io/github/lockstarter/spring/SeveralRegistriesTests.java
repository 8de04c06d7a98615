// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mockito.Mockito;

import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnUnavailable;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.engine.Time;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.BlockingLockStore;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.testsupport.CapturedLog;
import io.github.lockstarter.testsupport.OrdersDatabase;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A Spring application without Spring Boot, with several registries.
 */
@ExtendWith(CapturedLog.Extension.class)
class SeveralRegistriesTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	private static final String REGISTRIES = "Registries: 'distributedLockRegistry', 'other', 'small'.";

	@Test
	void eachLockIsInItsRegistry() {
		try (AnnotationConfigApplicationContext context = start(Shop.class)) {
			LockMemory main = context.getBean("mainMemory", LockMemory.class);
			LockMemory other = context.getBean("otherMemory", LockMemory.class);
			Shop shop = context.getBean(Shop.class);
			shop.here(() -> {
				assertThat(main.isEmpty()).isFalse();
				assertThat(other.isEmpty()).isTrue();
			});
			shop.there(() -> {
				assertThat(main.isEmpty()).isTrue();
				assertThat(other.isEmpty()).isFalse();
			});
			shop.here(() -> shop.alsoThere(() -> assertThat(main.isEmpty() || other.isEmpty()).isFalse()));
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', value = {
			"Unknown | the lock is requested in the registry 'paper', which does not exist. Correct the name, or declare"
					+ " a LockRegistry bean of that name. " + REGISTRIES,
			"ByStore | the lock is requested in the registry 'main', which does not exist. 'main' is the store of the bean"
					+ " 'distributedLockRegistry': name the bean. " + REGISTRIES,
			"Fair | the lock is requested in mode FAIR, but the lock store 'small' grants EXCLUSIVE, WRITE only. Change"
					+ " the annotation, or name another registry with 'registry'. " + REGISTRIES,
			"Kept | the lock is requested with 'holdAtLeast', but the lock store 'small' cannot keep a lock after its"
					+ " owner has released it. Change the annotation, or name another registry with 'registry'. "
					+ REGISTRIES,
			"KeptByName | the lock is requested with 'holdAtLeast', but the lock store 'small' cannot keep a lock after"
					+ " its owner has released it. Change the annotation, or name another registry with 'registry'. "
					+ REGISTRIES,
			"Apart | registry is '' in one annotation and 'other' in another. Use the same value in all annotations of"
					+ " the method.",
			"Reader | the settings of the lock name 'kept' do not fit: 'holdAtLeast' is not possible in mode READ: one"
					+ " of several owners cannot keep a shared lock. Change the settings, or give the lock of this method"
					+ " a name of its own." })
	void aMethodWhoseRegistryCannotAcquireItsLockEndsTheStart(String bean, String problem) throws Exception {
		Class<?> type = Class.forName(getClass().getName() + '$' + bean);
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> start(Settings.class, type).close())
			.withMessage("Invalid @DistributedLock on '" + type.getName() + ".run()': " + problem);
	}

	@Test
	void aRegistryThatNothingNamesIsNotCreated() {
		AtomicBoolean created = new AtomicBoolean();
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(Registries.class, Shop.class);
			context.registerBean("idle", LockRegistry.class, () -> {
				created.set(true);
				throw new IllegalStateException();
			}, (definition) -> {
				definition.setLazyInit(true);
				((AbstractBeanDefinition) definition).setDefaultCandidate(false);
			});
			context.refresh();
		}
		assertThat(created).isFalse();
	}

	@Test
	void withoutAPrimaryStoreThereIsNoRegistry() {
		assertThatThrownBy(() -> new AnnotationConfigApplicationContext(WithoutPrimary.class).close()).rootCause()
			.isInstanceOf(NoUniqueBeanDefinitionException.class)
			.hasMessageContaining("one,two");
	}

	@Test
	void twoRegistriesHaveTwoNames() {
		try (AnnotationConfigApplicationContext context = start()) {
			LockRegistryFactory registries = context.getBean(LockRegistryFactory.class);
			assertThatIllegalArgumentException().isThrownBy(() -> registries.create("other", new MemoryLockStore()))
				.withMessageStartingWith("There are two lock registries with the name 'other'");
			registries.create("another", new MemoryLockStore()).acquire(REQUEST).close();
		}
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(Registries.class);
			context.registerBean("own", DefaultLockRegistry.class,
					() -> new DefaultLockRegistry("other", new MemoryLockStore(), LockSettings.NONE,
							EngineSettings.DEFAULTS, LockListener.NO_OP, Time.SYSTEM),
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false));
			assertThatThrownBy(context::refresh).rootCause()
				.hasMessageStartingWith("There are two lock registries with the name 'other'");
		}
	}

	/** Other look-ups take the only one that is no fallback. */
	@Test
	void methodsAndTemplateUseTheRegistryThatIsInjectedThoughThereIsOneFurther() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(OneFurther.class,
				Here.class)) {
			LockRegistry injected = context.getBean(OneFurther.class).injected.getObject();
			context.getBean(Here.class)
				.here(() -> assertThat(
						CompletableFuture.supplyAsync(() -> injected.tryAcquire(Here.REQUEST).isEmpty()).join())
					.isTrue());
			context.getBean(LockTemplate.class)
				.executeWithoutResult(Here.REQUEST,
						(lease) -> assertThat(
								CompletableFuture.supplyAsync(() -> injected.tryAcquire(Here.REQUEST).isEmpty()).join())
							.isTrue());
		}
	}

	@Test
	void aStoreHasOneRegistry() {
		try (AnnotationConfigApplicationContext context = start()) {
			LockRegistryFactory registries = context.getBean(LockRegistryFactory.class);
			LockStore store = context.getBean("main", LockStore.class);
			context.getBean(LockRegistry.class).acquire(REQUEST).close();
			assertThatIllegalArgumentException().isThrownBy(() -> registries.create("twin", store))
				.withMessage("The store of the lock registry 'twin' is that of the registry 'main': use that one, whose"
						+ " locks would be the same");
		}
	}

	@Test
	void aRegistryThatWasClosedLeavesItsName() throws Exception {
		try (AnnotationConfigApplicationContext context = start()) {
			LockRegistryFactory registries = context.getBean(LockRegistryFactory.class);
			((AutoCloseable) registries.create("again", new MemoryLockStore())).close();
			registries.create("again", new MemoryLockStore()).acquire(REQUEST).close();
		}
	}

	@Test
	void aRegistryThatIsNoBeanIsClosedWithTheOthers() {
		LockRegistry registry;
		try (AnnotationConfigApplicationContext context = start()) {
			registry = context.getBean(LockRegistryFactory.class).create("no-bean", new MemoryLockStore());
		}
		assertThat(((DefaultLockRegistry) ((TransactionAwareLockRegistry) registry).delegate()).isClosed()).isTrue();
	}

	@Test
	void aSpyOfARegistryIsThatRegistry() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(Registries.class);
			context.registerBean("spy", DefaultLockRegistry.class, () -> {
				LockRegistry registry = context.getBean(LockRegistryFactory.class)
					.create("spied", new MemoryLockStore());
				return Mockito.spy((DefaultLockRegistry) ((TransactionAwareLockRegistry) registry).delegate());
			}, (definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false));
			context.registerBean("mock", DefaultLockRegistry.class, () -> Mockito.mock(DefaultLockRegistry.class),
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false));
			context.refresh();
			context.getBean("spy", LockRegistry.class).acquire(REQUEST).close();
		}
	}

	@Test
	void aRegistryThatIsCreatedAfterShutdownGrantsNothing() {
		try (AnnotationConfigApplicationContext context = start()) {
			LockRegistryFactory registries = context.getBean(LockRegistryFactory.class);
			registries.stop();
			LockRegistry late = registries.create("late", new MemoryLockStore());
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> late.acquire(REQUEST))
				.withMessageContaining("shutting down");
			registries.start();
			late.acquire(REQUEST).close();
		}
	}

	@Test
	void aNameInTwoRegistriesAndANameWithoutAMethodAreWarnedOf(CapturedLog log) {
		start(Settings.class, Shop.class, Twin.class).close();
		assertThat(log.toString().lines().filter((line) -> line.contains("There are settings"))).singleElement()
			.asString()
			.endsWith("There are settings for the lock names 'kept', 'order.place', which no @DistributedLock has."
					+ " Correct misspelt names; for locks that only a LockRegistry or a LockTemplate acquires, ignore"
					+ " this warning");
		assertThat(log.toString().lines().filter((line) -> line.contains("an owner in one registry"))).singleElement()
			.asString()
			.containsPattern("Lock 'twin' is in the registry '(distributedLockRegistry|other|small)' for '"
					+ Pattern.quote(Twin.class.getName())
					+ "\\.\\w+\\(\\)', and in '(distributedLockRegistry|other|small)' for '")
			.endsWith("': an owner in one registry does not exclude an owner in the other. If they shall exclude each"
					+ " other, set the same 'registry' in all annotations with this name; otherwise give the lock another"
					+ " 'name' in one of the registries");
	}

	@Test
	void aGoodStartWarnsOfNothing(CapturedLog log) {
		start(Shop.class).close();
		assertThat(log).isEmpty();
	}

	@Test
	void theLocksOfAllRegistriesOutliveTheTransaction() {
		try (AnnotationConfigApplicationContext context = start(Shop.class)) {
			LockRegistry registry = context.getBean(LockRegistry.class);
			LockMemory main = context.getBean("mainMemory", LockMemory.class);
			LockMemory other = context.getBean("otherMemory", LockMemory.class);
			new TransactionTemplate(context.getBean(JdbcTransactionManager.class)).executeWithoutResult((status) -> {
				registry.acquire(REQUEST).close();
				context.getBean(Shop.class).there(() -> {
				});
				assertThat(main.isEmpty() || other.isEmpty()).isFalse();
			});
			assertThat(main.isEmpty() && other.isEmpty()).isTrue();
		}
	}

	@Test
	void shutdownRefusesAllFirstAndWaitsForTheHoldersInAllRegistries() throws Exception {
		AnnotationConfigApplicationContext context = start(Shop.class);
		LockRegistry main = context.getBean(LockRegistry.class);
		LockRegistry other = context.getBean("other", LockRegistry.class);
		LockMemory mainMemory = context.getBean("mainMemory", LockMemory.class);
		LockMemory otherMemory = context.getBean("otherMemory", LockMemory.class);
		Lease here = main.acquire(REQUEST);
		Lease there = other.acquire(REQUEST);
		CompletableFuture<Void> closing = CompletableFuture.runAsync(context::close);
		for (LockRegistry each : new LockRegistry[] { main, other }) {
			LockRequest newcomer = LockRequest.of("order").withWaitTime(Duration.ZERO);
			Awaitility.await()
				.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> each.tryAcquire(newcomer).ifPresent(Lease::close)));
		}
		here.close();
		assertThat(closing).isNotDone();
		there.ensureHeld();
		there.close();
		closing.get(30, TimeUnit.SECONDS);
		assertThat(mainMemory.isEmpty() && otherMemory.isEmpty()).isTrue();
	}

	private static AnnotationConfigApplicationContext start(Class<?>... beans) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.register(Registries.class);
		if (beans.length > 0) {
			context.register(beans);
		}
		context.refresh();
		return context;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	@Import(OrdersDatabase.class)
	static class Registries {

		@Bean
		LockMemory mainMemory() {
			return new LockMemory();
		}

		@Bean
		LockMemory otherMemory() {
			return new LockMemory();
		}

		@Bean
		LockStore main(@Qualifier("mainMemory") LockMemory memory) {
			return new MemoryLockStore(memory);
		}

		@Bean(defaultCandidate = false)
		LockRegistry other(LockRegistryFactory registries, @Qualifier("otherMemory") LockMemory memory) {
			return registries.create("other", new MemoryLockStore(memory));
		}

		@Bean(defaultCandidate = false)
		LockRegistry small(LockRegistryFactory registries) {
			return registries.create("small", new SmallStore());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class OneFurther {

		final ObjectProvider<LockRegistry> injected;

		OneFurther(ObjectProvider<LockRegistry> injected) {
			this.injected = injected;
		}

		@Bean
		LockStore main() {
			return new MemoryLockStore();
		}

		@Bean(defaultCandidate = false)
		LockRegistry further(LockRegistryFactory registries) {
			return registries.create("further", new MemoryLockStore());
		}

	}

	static class Here {

		static final LockRequest REQUEST = LockRequest.of("here").withWaitTime(Duration.ZERO);

		@DistributedLock(name = "here")
		public void here(Runnable body) {
			body.run();
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
			return new LockSettings(
					Map.of("order.place", LockSettings.ForName.NONE, "kept", new LockSettings.ForName(null, null,
							Duration.ofSeconds(1), null, OnContention.DEFAULT, OnUnavailable.DEFAULT, OnLost.DEFAULT)));
		}

	}

	static class Shop {

		@DistributedLock(name = "here")
		public void here(Runnable body) {
			body.run();
		}

		@DistributedLock(name = "there", registry = "other")
		public void there(Runnable body) {
			body.run();
		}

		@DistributedLock(name = "there", registry = "${registry:other}")
		public void alsoThere(Runnable body) {
			body.run();
		}

	}

	static class Twin {

		@DistributedLock(name = "twin")
		public void here() {
		}

		@DistributedLock(name = "twin", registry = "other")
		public void there() {
		}

		@DistributedLock(name = "twin", registry = "small")
		public void everywhere() {
		}

	}

	static class Unknown {

		@DistributedLock(registry = "paper")
		public void run() {
		}

	}

	static class ByStore {

		@DistributedLock(registry = "main")
		public void run() {
		}

	}

	static class Fair {

		@DistributedLock(name = "small", registry = "small", mode = LockMode.FAIR)
		public void run() {
		}

	}

	static class Kept {

		@DistributedLock(name = "report", registry = "small", holdAtLeast = "1s")
		public void run() {
		}

	}

	static class KeptByName {

		@DistributedLock(name = "kept", registry = "small")
		public void run() {
		}

	}

	static class Apart {

		@DistributedLock(name = "here")
		@DistributedLock(name = "there", registry = "other")
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
		protected AcquireResult tryAcquire(LeaseRequest request) {
			return new AcquireResult.Grant(1);
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
