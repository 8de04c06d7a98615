// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.order;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.annotation.Timed;
import io.micrometer.core.aop.TimedAspect;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.annotation.Observed;
import io.micrometer.observation.aop.ObservedAspect;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.resilience.InvocationRejectedException;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PostAuthorize;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The order of the lock and other advice of the same method, with the defaults of Spring
 * Boot: one test for each row of "Order with other advice" in docs/reference.md that
 * needs no configuration. While another owner holds the lock, advice that still takes
 * effect is outside of the lock.
 */
@SpringBootTest(classes = AdviceOrderTests.Application.class, webEnvironment = SpringBootTest.WebEnvironment.NONE,
		properties = { "distributed-lock.store=memory", "spring.datasource.generate-unique-name=true" })
class AdviceOrderTests {

	@Autowired
	private Orders orders;

	@Autowired
	private Job job;

	@Autowired
	private LockWatch watch;

	@Autowired
	private LockRegistry registry;

	@Autowired
	private MeterRegistry meters;

	@BeforeEach
	void forget() {
		this.watch.forget();
		logIn("customer");
	}

	@AfterEach
	void logOut() {
		SecurityContextHolder.clearContext();
	}

	@Test
	void theTransactionIsInsideTheLock() {
		this.orders.place();
		assertThat(this.watch.steps()).containsExactly("acquired", "body", "committed", "released");
	}

	@Test
	void anExecutorIsOutsideTheLock() {
		CompletableFuture<String> thread = new CompletableFuture<>();
		try (Lease held = this.watch.heldByAnother(this.registry)) {
			assertThat(held.isHeld()).isTrue();
			this.orders.placeLater(thread);
			Awaitility.await().until(() -> this.watch.steps().contains("contended"));
		}
		this.orders.placeLater(thread);
		assertThat(thread).succeedsWithin(20, TimeUnit.SECONDS).asString().startsWith("task-");
		this.watch.awaitRelease(2);
	}

	@Test
	void retriesAreOutsideTheLock() {
		this.orders.placeAtTheSecondAttempt();
		assertThat(this.watch.steps()).containsExactly("acquired", "body", "rolled back", "released", "acquired",
				"body", "committed", "released");
	}

	@Test
	void contentionIsRetriedUnlessItIsExcluded() {
		try (Lease held = this.watch.heldByAnother(this.registry)) {
			assertThat(held.isHeld()).isTrue();
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(this.orders::placeAtTheSecondAttempt);
			assertThat(this.watch.steps()).containsExactly("contended", "contended", "contended");
			this.watch.forget();
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(this.orders::placeUnlessTheLockIsContended);
			assertThat(this.watch.steps()).containsExactly("contended");
		}
	}

	@Test
	void aConcurrencyLimitIsOutsideTheLock() {
		CompletableFuture<Void> waiting;
		try (Lease held = this.registry.acquire(LockRequest.of("order", 1001))) {
			assertThat(held.isHeld()).isTrue();
			waiting = CompletableFuture.runAsync(() -> this.orders.placeOneAtATime(1001));
			this.watch.awaitWaiters(1);
			assertThat(isRejected(1002)).isTrue();
		}
		assertThat(waiting).succeedsWithin(20, TimeUnit.SECONDS);
		assertThat(isRejected(1002)).isFalse();
	}

	@Test
	void aCallerWithoutTheAuthorityNeverAsksForTheLock() {
		try (Lease held = this.watch.heldByAnother(this.registry)) {
			assertThat(held.isHeld()).isTrue();
			assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(this.orders::placeAsClerk);
			assertThat(this.watch.steps()).isEmpty();
			logIn("clerk");
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(this.orders::placeAsClerk);
		}
	}

	@Test
	void theCheckOfAResultComesAfterTheCommitAndTheRelease() {
		assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(this.orders::placeForClerks);
		assertThat(this.watch.steps()).containsExactly("acquired", "body", "committed", "released");
	}

	@Test
	void withTransactionsAndTheLockFirstTheCheckOfAResultRollsBack() {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(TransactionsFirst.class)
			.web(WebApplicationType.NONE)
			.properties("distributed-lock.store=memory", "spring.datasource.generate-unique-name=true",
					"distributed-lock.advice-order=-1")
			.run()) {
			Orders other = context.getBean(Orders.class);
			assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(other::placeForClerks);
			LockWatch watch = context.getBean(LockWatch.class);
			assertThat(watch.steps()).containsExactly("acquired", "body", "rolled back", "released");
			watch.forget();
			assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(other::placeAsClerk);
			assertThat(watch.steps()).containsExactly("acquired", "released");
		}
	}

	@Test
	void aScheduledMethodIsCalledUnderItsLock() {
		assertThat(this.job.done()).succeedsWithin(20, TimeUnit.SECONDS).isEqualTo("job");
	}

	@Test
	void anObservationAndATimerDoNotIncludeTheWait() {
		try (Lease held = this.watch.heldByAnother(this.registry)) {
			assertThat(held.isHeld()).isTrue();
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(this.orders::placeObserved);
		}
		assertThat(this.meters.find("observed").timer()).isNull();
		assertThat(this.meters.find("timed").timer()).isNull();
		this.orders.placeObserved();
		assertThat(this.meters.get("observed").timer().count()).isOne();
		assertThat(this.meters.get("timed").timer().count()).isOne();
	}

	private boolean isRejected(long id) {
		try {
			this.orders.placeOneAtATime(id);
			return false;
		}
		catch (InvocationRejectedException ex) {
			return true;
		}
	}

	private static void logIn(String role) {
		SecurityContextHolder.getContext()
			.setAuthentication(new TestingAuthenticationToken("user", "password", "ROLE_" + role));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
	@EnableAsync
	@EnableResilientMethods
	@EnableMethodSecurity
	@EnableScheduling
	static class Application {

		@Bean
		LockWatch watch() {
			return new LockWatch(LockKey.of("order"));
		}

		@Bean
		Orders orders(LockWatch watch) {
			return new Orders(watch);
		}

		@Bean
		Job job() {
			return new Job();
		}

		@Bean
		MeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

		@Bean
		TimedAspect timedAspect(MeterRegistry meters) {
			return new TimedAspect(meters);
		}

		@Bean
		ObservedAspect observedAspect(MeterRegistry meters) {
			ObservationRegistry observations = ObservationRegistry.create();
			observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
			return new ObservedAspect(observations);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 0)
	@Import(Application.class)
	static class TransactionsFirst {

	}

	static class Orders {

		private final LockWatch watch;

		private int attempts;

		Orders(LockWatch watch) {
			this.watch = watch;
		}

		@Transactional
		@DistributedLock(name = "order")
		public void place() {
			this.watch.addInTransaction("body");
		}

		@Async
		@DistributedLock(name = "order", waitTime = "0s")
		public void placeLater(CompletableFuture<String> thread) {
			thread.complete(Thread.currentThread().getName());
		}

		@Retryable(maxRetries = 2, delay = 1)
		@DistributedLock(name = "order", waitTime = "0s")
		@Transactional
		public void placeAtTheSecondAttempt() {
			this.watch.addInTransaction("body");
			this.attempts++;
			if (this.attempts == 1) {
				throw new IllegalStateException("Once more");
			}
		}

		@Retryable(maxRetries = 2, delay = 1, excludes = LockContendedException.class)
		@DistributedLock(name = "order", waitTime = "0s")
		public void placeUnlessTheLockIsContended() {
			this.watch.add("body");
		}

		@ConcurrencyLimit(value = 1, policy = ConcurrencyLimit.ThrottlePolicy.REJECT)
		@DistributedLock(name = "order", key = "#id", waitTime = "1m")
		public void placeOneAtATime(long id) {
			this.watch.add("body");
		}

		@PreAuthorize("hasRole('clerk')")
		@DistributedLock(name = "order", waitTime = "0s")
		public void placeAsClerk() {
			this.watch.add("body");
		}

		@PostAuthorize("hasRole('clerk')")
		@DistributedLock(name = "order")
		@Transactional
		public void placeForClerks() {
			this.watch.addInTransaction("body");
		}

		@Observed(name = "observed")
		@Timed("timed")
		@DistributedLock(name = "order", waitTime = "0s")
		public void placeObserved() {
			this.watch.add("body");
		}

	}

	static class Job {

		private final CompletableFuture<String> done = new CompletableFuture<>();

		@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.DAYS)
		@DistributedLock(name = "job", waitTime = "0s")
		public void run() {
			this.done.complete(Lease.current().key().name());
		}

		CompletableFuture<String> done() {
			return this.done;
		}

	}

}
