// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.aspectj;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

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
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.testsupport.OrdersDatabase;
import io.github.lockstarter.testsupport.WeavingClassLoader;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for a woven lock on a method with a real transaction.
 */
class WovenTransactionTests {

	private static final List<String> steps = Collections.synchronizedList(new ArrayList<>());

	@Test
	void aLockInsideOfTheTransactionOfAProxyIsKeptUntilItsEnd() {
		try (AnnotationConfigApplicationContext context = start(TransactionsByProxy.class,
				WeavingClassLoader.of(WovenSale.class))) {
			sell(context, () -> steps.add("body"));
			assertThat(steps).containsExactly("acquired inside", "body", "committed while locked", "released");
		}
	}

	@Test
	void theTransactionOfAProxyIsRolledBackBeforeTheLockIsReleased() {
		try (AnnotationConfigApplicationContext context = start(TransactionsByProxy.class,
				WeavingClassLoader.of(WovenSale.class))) {
			assertThatIllegalStateException().isThrownBy(() -> sell(context, () -> {
				throw new IllegalStateException("out of order");
			})).withMessage("out of order");
			assertThat(steps).containsExactly("acquired inside", "rolled back while locked", "released");
		}
	}

	@Test
	void aWovenTransactionIsInsideOfTheLock() {
		try (AnnotationConfigApplicationContext context = start(WovenTransactions.class,
				WeavingClassLoader.withAllAspects(WovenSale.class))) {
			sell(context, () -> steps.add("body"));
			assertThat(steps).containsExactly("acquired outside", "body", "committed while locked", "released");
		}
	}

	@SuppressWarnings("unchecked")
	private static void sell(ApplicationContext context, Runnable body) {
		LockRegistry registry = context.getBean(LockRegistry.class);
		context.getBean("sale", Consumer.class).accept((Runnable) () -> {
			watchTransaction(registry);
			body.run();
		});
	}

	private static AnnotationConfigApplicationContext start(Class<?> transactions, WeavingClassLoader loader) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.setClassLoader(loader);
		context.register(transactions);
		context.registerBean("sale", loader.woven(WovenSale.class));
		context.refresh();
		steps.clear();
		return context;
	}

	/**
	 * Records how the transaction of the caller ends, and whether the lock is held then.
	 */
	private static void watchTransaction(LockRegistry registry) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public int getOrder() {
				return Ordered.HIGHEST_PRECEDENCE;
			}

			@Override
			public void afterCompletion(int status) {
				boolean free = CompletableFuture.supplyAsync(() -> isFree(registry)).join();
				steps.add(((status == STATUS_COMMITTED) ? "committed" : "rolled back") + " while "
						+ (free ? "free" : "locked"));
			}

		});
	}

	private static boolean isFree(LockRegistry registry) {
		Optional<Lease> lease = registry.tryAcquire(LockRequest.of("sale", 1).withWaitTime(Duration.ZERO));
		lease.ifPresent(Lease::close);
		return lease.isPresent();
	}

	@Configuration
	@EnableTransactionManagement(proxyTargetClass = true)
	@Import(Locking.class)
	static class TransactionsByProxy {

	}

	@Configuration
	@EnableTransactionManagement(mode = AdviceMode.ASPECTJ)
	@Import(Locking.class)
	static class WovenTransactions {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(OrdersDatabase.class)
	static class Locking {

		@Bean
		DefaultLockRegistry lockRegistry() {
			return new DefaultLockRegistry(new MemoryLockStore(), EngineSettings.DEFAULTS, (event) -> {
				if (event instanceof LockEvent.Acquired) {
					boolean inside = TransactionSynchronizationManager.isActualTransactionActive();
					steps.add("acquired " + (inside ? "inside" : "outside"));
				}
				else if (event instanceof LockEvent.Released) {
					steps.add("released");
				}
			});
		}

		@Bean
		static DistributedLockWeaving distributedLockWeaving(ConfigurableListableBeanFactory beanFactory) {
			return DistributedLockWeaving.locking(new LockDefinitionSource(beanFactory),
					(name) -> new TransactionAwareLockRegistry("memory", beanFactory.getBean(LockRegistry.class),
							OnActiveTransaction.DEFAULT, OnPersistenceContext.DEFAULT, LockListener.NO_OP));
		}

	}

	public static class WovenSale implements Consumer<Runnable> {

		@Override
		@Transactional
		@DistributedLock(name = "sale", key = "1")
		public void accept(Runnable body) {
			body.run();
		}

	}

}
