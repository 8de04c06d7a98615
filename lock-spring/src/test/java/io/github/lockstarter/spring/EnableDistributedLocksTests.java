// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.OrdersDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A Spring application without Spring Boot, which declares only a store.
 */
class EnableDistributedLocksTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	private static final Duration LEASE_TIME = Duration.ofSeconds(4);

	private static final LockRequest OTHER_REQUEST = LockRequest.of("stock", 1002).withWaitTime(Duration.ZERO);

	@Test
	void thereIsNoSpringBoot() {
		assertThat(ClassUtils.isPresent("org.springframework.boot.SpringApplication", getClass().getClassLoader()))
			.isFalse();
	}

	@Test
	void annotatedMethodsAreLocked() {
		try (AnnotationConfigApplicationContext context = start(Application.class)) {
			Stock stock = context.getBean(Stock.class);
			assertThat(stock.deduct(1001, () -> assertContended(context.getBean(LockRegistry.class)))).isPositive();
			assertThat(context.getBean(LockMemory.class).isEmpty()).isTrue();
		}
	}

	@Test
	void templateAndListenersWork() {
		try (AnnotationConfigApplicationContext context = start(Application.class)) {
			context.getBean(LockTemplate.class).execute(REQUEST, Lease::fencingToken);
			assertThat(context.getBean(Events.class).seen).hasAtLeastOneElementOfType(LockEvent.Released.class);
		}
	}

	@Test
	void theLockOutlivesTheTransaction() {
		try (AnnotationConfigApplicationContext context = start(Application.class)) {
			assertThat(context.getBean(LockRegistry.class)).isInstanceOf(TransactionAwareLockRegistry.class);
			new TransactionTemplate(context.getBean(JdbcTransactionManager.class)).executeWithoutResult((status) -> {
				context.getBean(Stock.class).deduct(1001, () -> {
				});
				assertContended(context.getBean(LockRegistry.class));
			});
			assertThat(context.getBean(LockMemory.class).isEmpty()).isTrue();
		}
	}

	@Test
	void noTransactionCommitsAfterItsLockWasLost() {
		try (AnnotationConfigApplicationContext context = start(Application.class)) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> context.getBean(Stock.class).order(1001, () -> {
					context.getBean(LockMemory.class).clear();
					context.getBean(ManualTime.class).advance(LEASE_TIME);
				}));
			assertThat(
					context.getBean(JdbcClient.class).sql("select count(*) from orders").query(Integer.class).single())
				.isZero();
		}
	}

	@Test
	void theAnnotationSaysWhatMethodsLeaveOpen() {
		try (AnnotationConfigApplicationContext context = start(Strict.class)) {
			assertThat(context.getBean(DistributedLockAdvisor.class).getOrder()).isEqualTo(42);
			assertThat(context.getBean(LockAdvice.class).onPersistenceContext()).isEqualTo(OnPersistenceContext.FAIL);
			new TransactionTemplate(context.getBean(JdbcTransactionManager.class))
				.executeWithoutResult((status) -> assertThatIllegalStateException()
					.isThrownBy(() -> context.getBean(Stock.class).deduct(1001, () -> {
					}))
					.withMessageContaining("must not be acquired inside a transaction"));
		}
	}

	@Test
	void aWrongAnnotationEndsTheStart() {
		assertThatExceptionOfType(BeanCreationException.class)
			.isThrownBy(() -> start(Application.class, Closed.class).close())
			.withRootCauseInstanceOf(InvalidLockDefinitionException.class)
			.withMessageContaining("Closed");
	}

	@Test
	void shutdownWaitsForHolders() throws Exception {
		AnnotationConfigApplicationContext context = start(Application.class);
		LockRegistry registry = context.getBean(LockRegistry.class);
		LockMemory memory = context.getBean(LockMemory.class);
		Lease lease = registry.acquire(REQUEST);
		CompletableFuture<Void> closing = CompletableFuture.runAsync(context::close);
		Awaitility.await()
			.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> registry.tryAcquire(OTHER_REQUEST).ifPresent(Lease::close)));
		assertThat(closing).isNotDone();
		lease.close();
		closing.get(30, TimeUnit.SECONDS);
		assertThat(memory.isEmpty()).isTrue();
	}

	private static void assertContended(LockRegistry registry) {
		assertThat(CompletableFuture.supplyAsync(() -> registry.tryAcquire(REQUEST)).join()).isEmpty();
	}

	@Test
	void theTransactionsOfAParentContextAreGuarded() {
		try (AnnotationConfigApplicationContext parent = start(OrdersDatabase.class);
				AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
			child.setParent(parent);
			child.register(OnlyLocks.class);
			child.refresh();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> child.getBean(LockTemplate.class)
				.executeWithoutResult(REQUEST.withLeaseTime(LEASE_TIME),
						(lease) -> new TransactionTemplate(parent.getBean(JdbcTransactionManager.class))
							.executeWithoutResult((status) -> {
								parent.getBean(JdbcClient.class).sql("insert into orders values (1)").update();
								child.getBean(ManualTime.class).advance(LEASE_TIME);
							})));
			assertThat(
					parent.getBean(JdbcClient.class).sql("select count(*) from orders").query(Integer.class).single())
				.isZero();
		}
	}

	private static AnnotationConfigApplicationContext start(Class<?>... configurations) {
		return new AnnotationConfigApplicationContext(configurations);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class Application extends Infrastructure {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks(order = 42, onActiveTransaction = OnActiveTransaction.FAIL,
			persistenceContext = OnPersistenceContext.FAIL)
	static class Strict extends Infrastructure {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class OnlyLocks {

		@Bean
		ManualTime time() {
			return new ManualTime();
		}

		@Bean
		LockStore store(ManualTime time) {
			return new MemoryLockStore(new LockMemory(time));
		}

	}

	@EnableTransactionManagement(proxyTargetClass = true)
	@Import(OrdersDatabase.class)
	abstract static class Infrastructure {

		@Bean
		ManualTime time() {
			return new ManualTime();
		}

		@Bean
		LockMemory memory(ManualTime time) {
			return new LockMemory(time);
		}

		@Bean
		LockStore store(LockMemory memory) {
			return new MemoryLockStore(memory);
		}

		@Bean
		Events events() {
			return new Events();
		}

		@Bean
		EngineSettings settings() {
			return new EngineSettings(Duration.ofSeconds(5), LEASE_TIME, 20, Duration.ofSeconds(1),
					Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofSeconds(20));
		}

		@Bean
		Stock stock(JdbcClient jdbc) {
			return new Stock(jdbc);
		}

	}

	static class Events implements LockListener {

		final List<LockEvent> seen = new ArrayList<>();

		@Override
		public void onEvent(LockEvent event) {
			this.seen.add(event);
		}

	}

	static class Stock {

		private final JdbcClient jdbc;

		Stock(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(name = "stock", key = "#productId")
		public long deduct(long productId, Runnable body) {
			body.run();
			return Lease.current().fencingToken();
		}

		@DistributedLock(name = "stock", key = "#productId")
		@Transactional
		public void order(long productId, Runnable body) {
			this.jdbc.sql("insert into orders values (?)").param(productId).update();
			body.run();
		}

	}

	static class Closed {

		@DistributedLock(name = "closed")
		final void close() {
		}

	}

}
