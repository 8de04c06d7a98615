// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.autoconfigure.LocksEndpoint.HeldDescriptor;
import io.github.lockstarter.autoconfigure.LocksEndpoint.HolderDescriptor;
import io.github.lockstarter.autoconfigure.LocksEndpoint.WaitingDescriptor;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.testsupport.OrdersDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application whose beans were defined when it was built.
 */
class AheadOfTimeTests {

	private static final TestPropertyValues PROPERTIES = TestPropertyValues.of("distributed-lock.store=memory",
			"distributed-lock.fencing.transactions=true", "management.endpoints.web.exposure.include=locks");

	@Test
	@CompileWithForkedClassLoader
	void itsLocksFencedTransactionsFallbacksAndEndpointWork() {
		TestGenerationContext generation = new TestGenerationContext(AheadOfTimeTests.class);
		ClassName initializer = process(generation);
		assertThat(List.of(HeldDescriptor.class, WaitingDescriptor.class, HolderDescriptor.class))
			.allMatch((type) -> RuntimeHintsPredicates.reflection()
				.onType(type)
				.withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS)
				.test(generation.getRuntimeHints()));
		TestCompiler.forSystem().with(generation).compile((compiled) -> {
			try (GenericApplicationContext application = new GenericApplicationContext()) {
				PROPERTIES.applyTo(application);
				initialize(application,
						compiled.getInstance(ApplicationContextInitializer.class, initializer.toString()));
				application.refresh();
				verify(application);
			}
		});
	}

	private static ClassName process(TestGenerationContext generation) {
		try (AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext()) {
			PROPERTIES.applyTo(application);
			application.register(Application.class);
			ClassName initializer = new ApplicationContextAotGenerator().processAheadOfTime(application, generation);
			generation.writeGeneratedContent();
			return initializer;
		}
	}

	@SuppressWarnings("unchecked")
	private static void initialize(GenericApplicationContext application,
			ApplicationContextInitializer<?> initializer) {
		((ApplicationContextInitializer<GenericApplicationContext>) initializer).initialize(application);
	}

	private static void verify(GenericApplicationContext application) {
		Sales sales = application.getBean(Sales.class);
		JdbcClient jdbc = application.getBean(JdbcClient.class);
		Order order = new Order("a", 7);
		assertThat(sales.sell(order))
			.isEqualTo(jdbc.sql("select token from distributed_lock_fence").query(Long.class).single());
		assertThat(jdbc.sql("select count(*) from orders").query(Integer.class).single()).isOne();
		try (Lease held = application.getBean(LockRegistry.class)
			.acquire(LockRequest.of("sale", order).withWaitTime(Duration.ZERO))) {
			assertThat(call(() -> sales.sell(order))).isEqualTo(-1);
			held.ensureHeld();
			assertThat(application.getBean(LocksEndpoint.class).locks(true).toString())
				.contains("fencingToken=" + held.fencingToken());
		}
		assertThat(sales.refused()).isOne();
	}

	private static long call(Callable<Long> sale) {
		try {
			return Callers.start(sale).get();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocksEndpointAutoConfiguration.class })
	@Import({ OrdersDatabase.class, Sales.class })
	static class Application {

	}

	record Order(String tenant, long id) {
	}

	static class Sales {

		private final JdbcClient jdbc;

		private final AtomicInteger refused = new AtomicInteger();

		Sales(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(name = "sale", key = "#order", waitTime = "0s", fallback = "refuse")
		@Transactional
		public long sell(Order order) {
			this.jdbc.sql("insert into orders values (?)").param(order.id()).update();
			return Lease.current().fencingToken();
		}

		long refuse(Order order, LockException reason) {
			this.refused.incrementAndGet();
			return -1;
		}

		int refused() {
			return this.refused.get();
		}

	}

}
