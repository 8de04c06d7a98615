// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.order;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Locked methods that Spring calls at the end of a transaction.
 */
@SpringBootTest(classes = TransactionalListenerTests.Application.class,
		webEnvironment = SpringBootTest.WebEnvironment.NONE,
		properties = { "distributed-lock.store=memory", "spring.datasource.generate-unique-name=true" })
@ExtendWith(OutputCaptureExtension.class)
class TransactionalListenerTests {

	@Autowired
	private TransactionTemplate transaction;

	@Autowired
	private ApplicationEventPublisher publisher;

	@Autowired
	private Shop shop;

	@Autowired
	private Listeners listeners;

	@Autowired
	private LockWatch watch;

	@Autowired
	private LockRegistry registry;

	@Autowired
	private HikariDataSource dataSource;

	@BeforeEach
	void forget() {
		this.watch.forget();
	}

	@Test
	void beforeTheCommitTheLockIsHeldUntilTheEndOfTheTransaction() {
		publish(TransactionPhase.BEFORE_COMMIT);
		assertThat(this.watch.steps()).containsExactly("acquired", "listener", "committed", "released");
	}

	@ParameterizedTest
	@EnumSource(names = { "AFTER_COMMIT", "AFTER_COMPLETION" })
	void afterTheCommitTheLockIsReleasedAtTheReturn(TransactionPhase phase) {
		publish(phase);
		assertThat(this.watch.steps()).containsExactly("committed", "acquired", "listener", "released");
	}

	@Test
	void afterARollbackTheLockIsReleasedAtTheReturn() {
		this.transaction.executeWithoutResult((status) -> {
			this.watch.addInTransaction("body");
			this.publisher.publishEvent(TransactionPhase.AFTER_ROLLBACK);
			status.setRollbackOnly();
		});
		assertThat(this.watch.steps()).containsExactly("body", "rolled back", "acquired", "listener", "released");
	}

	@Test
	void inACallbackAfterTheCommitTheLockIsHeldUntilTheEndOfAllCallbacks() {
		this.transaction.executeWithoutResult(
				(status) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						TransactionalListenerTests.this.listeners.onPhase(TransactionPhase.AFTER_COMMIT);
						TransactionalListenerTests.this.watch.add("returned");
					}

				}));
		assertThat(this.watch.steps()).containsExactly("acquired", "listener", "returned", "released");
	}

	@Test
	void aTransactionOfTheListenerIsInsideItsLock() {
		publish(new Shipment());
		assertThat(this.watch.steps()).containsExactly("committed", "acquired", "listener", "committed", "released");
	}

	@Test
	void theLockOfThePublisherIsStillHeldByAListenerAfterTheCommit() {
		this.shop.place();
		assertThat(this.watch.steps()).containsExactly("acquired", "body", "committed", "listener", "released");
	}

	@Test
	void contentionBeforeTheCommitRollsBack() {
		try (Lease held = this.watch.heldByAnother(this.registry)) {
			assertThat(held.isHeld()).isTrue();
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> publish(TransactionPhase.BEFORE_COMMIT));
		}
		assertThat(this.watch.steps()).startsWith("contended", "rolled back");
	}

	@ParameterizedTest
	@EnumSource(names = { "AFTER_COMMIT", "AFTER_COMPLETION" })
	void contentionAfterTheCommitIsOnlyLogged(TransactionPhase phase, CapturedOutput output) {
		try (Lease held = this.watch.heldByAnother(this.registry)) {
			assertThat(held.isHeld()).isTrue();
			publish(phase);
		}
		assertThat(this.watch.steps()).startsWith("committed", "contended").doesNotContain("listener");
		assertThat(output).contains(LockContendedException.class.getName());
	}

	@Test
	void aListenerAfterTheCommitStillOccupiesTheConnection() {
		CompletableFuture<Integer> connections = new CompletableFuture<>();
		publish(new Question(connections));
		assertThat(connections).isCompletedWithValue(1);
	}

	@Test
	void anAsynchronousListenerOccupiesNoConnection() {
		CompletableFuture<Void> done = new CompletableFuture<>();
		try (Lease held = this.watch.heldByAnother(this.registry)) {
			assertThat(held.isHeld()).isTrue();
			publish(new Errand(done));
			assertThat(this.watch.steps()).containsExactly("committed");
			assertThat(this.dataSource.getHikariPoolMXBean().getActiveConnections()).isZero();
		}
		assertThat(done).succeedsWithin(20, TimeUnit.SECONDS);
		this.watch.awaitRelease(2);
	}

	private void publish(Object event) {
		this.transaction.executeWithoutResult((status) -> {
			this.watch.addInTransaction("body");
			this.watch.forget();
			this.publisher.publishEvent(event);
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
	@EnableAsync
	@Import({ Shop.class, Listeners.class })
	static class Application {

		@Bean
		LockWatch watch() {
			return new LockWatch(LockKey.of("order"));
		}

	}

	record Shipment() {

	}

	record Question(CompletableFuture<Integer> connections) {

	}

	record Errand(CompletableFuture<Void> done) {

	}

	static class Shop {

		private final LockWatch watch;

		private final ApplicationEventPublisher publisher;

		Shop(LockWatch watch, ApplicationEventPublisher publisher) {
			this.watch = watch;
			this.publisher = publisher;
		}

		@DistributedLock(name = "order")
		@Transactional
		public void place() {
			this.watch.addInTransaction("body");
			this.publisher.publishEvent(TransactionPhase.AFTER_COMMIT);
		}

	}

	static class Listeners {

		private final LockWatch watch;

		private final HikariDataSource dataSource;

		Listeners(LockWatch watch, HikariDataSource dataSource) {
			this.watch = watch;
			this.dataSource = dataSource;
		}

		@TransactionalEventListener(phase = TransactionPhase.BEFORE_COMMIT,
				condition = "#phase.name() == 'BEFORE_COMMIT'")
		@DistributedLock(name = "order", waitTime = "0s")
		public void beforeCommit(TransactionPhase phase) {
			this.watch.add("listener");
		}

		@TransactionalEventListener(condition = "#phase.name() == 'AFTER_COMMIT'")
		@DistributedLock(name = "order", waitTime = "0s")
		public void onPhase(TransactionPhase phase) {
			this.watch.add("listener");
		}

		@TransactionalEventListener(phase = TransactionPhase.AFTER_COMPLETION,
				condition = "#phase.name() == 'AFTER_COMPLETION'")
		@DistributedLock(name = "order", waitTime = "0s")
		public void afterCompletion(TransactionPhase phase) {
			this.watch.add("listener");
		}

		@TransactionalEventListener(phase = TransactionPhase.AFTER_ROLLBACK,
				condition = "#phase.name() == 'AFTER_ROLLBACK'")
		@DistributedLock(name = "order", waitTime = "0s")
		public void afterRollback(TransactionPhase phase) {
			this.watch.add("listener");
		}

		@TransactionalEventListener
		@DistributedLock(name = "order", waitTime = "0s")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void onShipment(Shipment shipment) {
			this.watch.addInTransaction("listener");
		}

		@TransactionalEventListener
		@DistributedLock(name = "order", waitTime = "0s")
		public void onQuestion(Question question) {
			question.connections().complete(this.dataSource.getHikariPoolMXBean().getActiveConnections());
		}

		@Async
		@TransactionalEventListener
		@DistributedLock(name = "order", waitTime = "1m")
		public void later(Errand errand) {
			this.watch.add("listener");
			errand.done().complete(null);
		}

	}

}
