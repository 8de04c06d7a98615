// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.testsupport.OrdersDatabase;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the order of the lock among the real advisors of Spring.
 */
class DistributedLockOrderingTests {

	private static final ThreadLocal<String> CONTEXT = new ThreadLocal<>();

	private static final List<String> steps = Collections.synchronizedList(new ArrayList<>());

	/** The beans for locks are registered before those of other advice, or after them. */
	private static final Map<Class<?>, AnnotationConfigApplicationContext> contexts = new HashMap<>();

	@BeforeEach
	void forget() {
		steps.clear();
	}

	@AfterAll
	static void close() {
		contexts.values().forEach(AnnotationConfigApplicationContext::close);
		contexts.clear();
	}

	private static AnnotationConfigApplicationContext context(Class<?> configuration) {
		return contexts.computeIfAbsent(configuration, AnnotationConfigApplicationContext::new);
	}

	private static <T> T bean(Class<T> type) {
		return context(LockFirst.class).getBean(type);
	}

	@ParameterizedTest
	@ValueSource(classes = { LockFirst.class, LockLast.class })
	void theLockIsReleasedAfterTheCommit(Class<?> configuration) {
		context(configuration).getBean(LockAboveTransaction.class).run();
		assertThat(steps).containsExactly("acquired", "body in transaction", "committed while locked", "released");
		context(configuration).getBean(LockBelowTransaction.class).run();
		assertThat(steps).hasSize(8).endsWith("body in transaction", "committed while locked", "released");
	}

	@ParameterizedTest
	@ValueSource(classes = { LockFirst.class, LockLast.class })
	void eachTryTakesTheLockAndATransactionAnew(Class<?> configuration) {
		context(configuration).getBean(Retried.class).run();
		assertThat(steps).containsExactly("acquired", "try 1 in transaction", "rolled back while locked", "released",
				"acquired", "try 2 in transaction", "committed while locked", "released");
	}

	@ParameterizedTest
	@ValueSource(classes = { LockFirst.class, LockLast.class })
	void anAsynchronousMethodTakesTheLockOnItsOwnThread(Class<?> configuration) {
		LockRegistry registry = context(configuration).getBean(LockRegistry.class);
		CountDownLatch done = new CountDownLatch(1);
		try (Lease held = registry.acquire(LockRequest.of("asynchronous", 1))) {
			steps.clear();
			context(configuration).getBean(Asynchronous.class).run(1, done);
			assertThat(done.getCount()).isOne();
		}
		// The event of the first release may be published after the hand-off
		Awaitility.await().until(() -> Collections.frequency(steps, "released") == 2);
		assertThat(steps).hasSize(4).containsSubsequence("acquired", "body on task-", "released");
	}

	@ParameterizedTest
	@ValueSource(classes = { LockFirst.class, LockLast.class })
	void anAsynchronousMethodHoldsTheLockUntilItsFutureIsDone(Class<?> configuration) {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = context(configuration).getBean(Asynchronous.class).follow(1, work);
		Awaitility.await().until(() -> steps.contains("body"));
		assertThat(steps).containsExactly("acquired", "body");
		assertThat(result).isNotDone();
		work.complete("done");
		assertThat(result).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("done");
		assertThat(steps).containsExactly("acquired", "body", "released");
	}

	@Test
	void theLockIsReleasedAfterTheRollback() {
		JdbcClient.StatementSpec orders = bean(JdbcClient.class).sql("select count(*) from orders");
		long before = orders.query(Long.class).single();
		assertThat(catchMessage(bean(LockAboveTransaction.class)::fail)).isEqualTo("out of order");
		assertThat(steps).containsExactly("acquired", "rolled back while locked", "released");
		assertThat(orders.query(Long.class).single()).isEqualTo(before);
	}

	@Test
	void anAsynchronousMethodRunsOnItsExecutorAlsoWhereItReturnsAFuture() {
		Asynchronous direct = bean(Asynchronous.class);
		AsynchronousClass wholeClass = bean(AsynchronousClass.class);
		for (Supplier<CompletableFuture<String>> call : List.<Supplier<CompletableFuture<String>>>of(
				() -> direct.where(1), () -> direct.whereByMeta(1), () -> wholeClass.where(1))) {
			steps.clear();
			CONTEXT.set("of the caller");
			assertThat(call.get()).succeedsWithin(Duration.ofSeconds(20))
				.asString()
				.startsWith("task-")
				.endsWith("with the context of the caller");
			CONTEXT.remove();
			assertThat(steps).containsExactly("acquired", "released");
		}
	}

	@Test
	void whileAnAsynchronousMethodWaitsForItsLockNoThreadOfTheLibraryIsBlocked() {
		DefaultLockRegistry other = new DefaultLockRegistry(bean(MemoryLockStore.class), EngineSettings.DEFAULTS,
				LockListener.NO_OP);
		Lease held = other.acquire(LockRequest.of("asynchronous", 1));
		CompletableFuture<String> result = bean(Asynchronous.class).where(1);
		Awaitility.await().until(() -> waitsForLock("task-"));
		assertThat(waitsForLock("lock-")).isFalse();
		assertThat(waitsForLock("ForkJoinPool")).isFalse();
		held.close();
		assertThat(result).succeedsWithin(Duration.ofSeconds(20));
		other.close();
	}

	@Test
	void anInterruptOfTheExecutorsThreadDoesNotReleaseTheLockOfWorkThatGoesOn() {
		CompletableFuture<String> work = new CompletableFuture<>();
		bean(Asynchronous.class).follow(1, work);
		Awaitility.await().until(() -> steps.contains("body"));
		Thread thread = Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((each) -> each.getName().startsWith("task-"))
			.findFirst()
			.orElseThrow();
		thread.interrupt();
		Awaitility.await()
			.until(() -> !thread.isAlive() || (!thread.isInterrupted() && thread.getState() == Thread.State.WAITING));
		LockRequest request = LockRequest.of("asynchronous", 1).withWaitTime(Duration.ZERO);
		assertThat(bean(LockRegistry.class).tryAcquire(request)).isEmpty();
		work.complete("done");
		Awaitility.await().until(() -> steps.contains("released"));
	}

	@Test
	void aTransactionOfTheCallerIsHeededIfTheExecutorIsTheCaller() {
		TransactionTemplate transaction = new TransactionTemplate(bean(JdbcTransactionManager.class));
		transaction.executeWithoutResult((status) -> {
			assertThat(bean(Asynchronous.class).whereTheCallerIs(1)).succeedsWithin(Duration.ofSeconds(20))
				.isEqualTo(Thread.currentThread().getName());
			assertThat(steps).containsExactly("acquired");
		});
		assertThat(steps).containsExactly("acquired", "released");
	}

	@Test
	void theTransactionOfAMethodThatReturnsAFutureIsInsideOfTheLock() {
		assertThat(bean(LockAboveTransaction.class).runLater()).succeedsWithin(Duration.ofSeconds(20));
		assertThat(steps).containsExactly("acquired", "body in transaction", "committed while locked", "released");
	}

	private static boolean waitsForLock(String threads) {
		return Thread.getAllStackTraces()
			.entrySet()
			.stream()
			.filter((thread) -> thread.getKey().getName().startsWith(threads))
			.flatMap((thread) -> Arrays.stream(thread.getValue()))
			.anyMatch((frame) -> frame.getClassName().startsWith("io.github.lockstarter.engine.ThreadWaiter"));
	}

	private static String catchMessage(Runnable action) {
		try {
			action.run();
			return "nothing thrown";
		}
		catch (IllegalStateException ex) {
			return ex.getMessage();
		}
	}

	/**
	 * Records how the transaction of the caller ends, and whether the lock is held then.
	 */
	private static void watchTransaction(JdbcClient jdbc, LockRegistry registry, String lock) {
		jdbc.sql("insert into orders values (1)").update();
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				Supplier<Boolean> free = () -> registry.tryAcquire(LockRequest.of(lock, 1).withWaitTime(Duration.ZERO))
					.map((lease) -> {
						lease.close();
						return true;
					})
					.orElse(false);
				String locked = onOtherThread(free) ? "free" : "locked";
				steps.add(((status == STATUS_COMMITTED) ? "committed" : "rolled back") + " while " + locked);
			}

		});
	}

	private static <T> T onOtherThread(Supplier<T> action) {
		return CompletableFuture.supplyAsync(action).join();
	}

	@Configuration
	@EnableTransactionManagement(proxyTargetClass = true)
	@EnableCaching(proxyTargetClass = true)
	@EnableResilientMethods(proxyTargetClass = true)
	@EnableAsync(proxyTargetClass = true)
	@Import(OrdersDatabase.class)
	static class Advice {

		@Bean
		ConcurrentMapCacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

		@Bean
		SimpleAsyncTaskExecutor taskExecutor() {
			SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("task-");
			executor.setTaskTerminationTimeout(20_000);
			executor.setTaskDecorator((task) -> {
				String context = CONTEXT.get();
				return () -> {
					CONTEXT.set(context);
					task.run();
				};
			});
			return executor;
		}

		@Bean(defaultCandidate = false)
		SyncTaskExecutor caller() {
			return new SyncTaskExecutor();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Locking {

		@Bean
		MemoryLockStore store() {
			return new MemoryLockStore();
		}

		@Bean
		DefaultLockRegistry lockRegistry(MemoryLockStore store) {
			return new DefaultLockRegistry(store, EngineSettings.DEFAULTS, (event) -> {
				if (event instanceof LockEvent.Acquired || event instanceof LockEvent.Released) {
					steps.add((event instanceof LockEvent.Acquired) ? "acquired" : "released");
				}
			});
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockAdvisor distributedLockAdvisor(ConfigurableListableBeanFactory beanFactory) {
			return new DistributedLockAdvisor(new LockDefinitionSource(beanFactory),
					(name) -> new TransactionAwareLockRegistry("memory", beanFactory.getBean(LockRegistry.class),
							OnActiveTransaction.DEFAULT, OnPersistenceContext.DEFAULT, LockListener.NO_OP));
		}

	}

	@Configuration
	@Import({ Locking.class, Advice.class, Beans.class })
	static class LockFirst {

	}

	@Configuration
	@Import({ Beans.class, Advice.class, Locking.class })
	static class LockLast {

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ LockAboveTransaction.class, LockBelowTransaction.class, Retried.class, Asynchronous.class,
			AsynchronousClass.class })
	static class Beans {

	}

	static class LockAboveTransaction {

		private final JdbcClient jdbc;

		private final LockRegistry registry;

		LockAboveTransaction(JdbcClient jdbc, LockRegistry registry) {
			this.jdbc = jdbc;
			this.registry = registry;
		}

		@DistributedLock(name = "stock", key = "1")
		@Transactional
		public void run() {
			watchTransaction(this.jdbc, this.registry, "stock");
			steps.add("body in transaction");
		}

		@DistributedLock(name = "stock", key = "1")
		@Transactional
		public CompletableFuture<Void> runLater() {
			run();
			return CompletableFuture.completedFuture(null);
		}

		@DistributedLock(name = "stock", key = "1")
		@Transactional
		public void fail() {
			watchTransaction(this.jdbc, this.registry, "stock");
			throw new IllegalStateException("out of order");
		}

	}

	static class LockBelowTransaction {

		private final JdbcClient jdbc;

		private final LockRegistry registry;

		LockBelowTransaction(JdbcClient jdbc, LockRegistry registry) {
			this.jdbc = jdbc;
			this.registry = registry;
		}

		@Transactional
		@DistributedLock(name = "stock", key = "1")
		public void run() {
			watchTransaction(this.jdbc, this.registry, "stock");
			steps.add("body in transaction");
		}

	}

	static class Retried {

		private final JdbcClient jdbc;

		private final LockRegistry registry;

		private int tries;

		Retried(JdbcClient jdbc, LockRegistry registry) {
			this.jdbc = jdbc;
			this.registry = registry;
		}

		@Transactional
		@DistributedLock(name = "retried", key = "1")
		@Retryable(maxRetries = 2, delay = 1)
		public void run() {
			watchTransaction(this.jdbc, this.registry, "retried");
			this.tries++;
			steps.add("try " + this.tries + " in transaction");
			if (this.tries == 1) {
				throw new IllegalStateException("once more");
			}
		}

	}

	static class Asynchronous {

		@DistributedLock(name = "asynchronous", key = "#id")
		@Async
		public void run(int id, CountDownLatch done) {
			String name = Thread.currentThread().getName();
			steps.add("body on " + name.substring(0, name.indexOf('-') + 1));
			done.countDown();
		}

		@Async
		@DistributedLock(name = "asynchronous", key = "#id")
		public CompletableFuture<String> follow(int id, CompletableFuture<String> work) {
			steps.add("body");
			return work;
		}

		@Async
		@DistributedLock(name = "asynchronous", key = "#id")
		public CompletableFuture<String> where(int id) {
			return CompletableFuture.completedFuture(here());
		}

		@Background
		@DistributedLock(name = "asynchronous", key = "#id")
		public CompletableFuture<String> whereByMeta(int id) {
			return where(id);
		}

		@Async("caller")
		@DistributedLock(name = "asynchronous", key = "#id")
		public CompletableFuture<String> whereTheCallerIs(int id) {
			return CompletableFuture.completedFuture(Thread.currentThread().getName());
		}

		static String here() {
			return Thread.currentThread().getName() + " with the context " + CONTEXT.get();
		}

	}

	@Async
	@Retention(RetentionPolicy.RUNTIME)
	@interface Background {

	}

	@Async
	static class AsynchronousClass {

		@DistributedLock(name = "asynchronous", key = "#id")
		public CompletableFuture<String> where(int id) {
			return CompletableFuture.completedFuture(Asynchronous.here());
		}

	}

}
