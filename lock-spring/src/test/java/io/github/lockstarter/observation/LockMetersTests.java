// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.EnableDistributedLocks;
import io.github.lockstarter.spring.LockRegistryFactory;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The meters of a Spring application without Spring Boot.
 */
class LockMetersTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(LockRequest.FOREVER);

	private static final Duration LEASE = EngineSettings.DEFAULTS.leaseTime();

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
			Application.class);

	private final ManualTime time = this.context.getBean(ManualTime.class);

	private final MeterRegistry meters = this.context.getBean(MeterRegistry.class);

	private final MockClock clock = this.context.getBean(MockClock.class);

	private final FaultInjectingStore store = this.context.getBean(FaultInjectingStore.class);

	private final LockRegistry registry = this.context.getBean(LockRegistry.class);

	@AfterEach
	void stop() {
		this.time.letPass(this.context::close);
	}

	@Test
	void heldLocksAndWaitersAreCountedByName() {
		Lease lease = this.registry.acquire(REQUEST);
		Lease reader = this.registry.acquire(LockRequest.of("report").withMode(LockMode.READ).withOwner("one"));
		Lease other = this.registry.acquire(LockRequest.of("report").withMode(LockMode.READ).withOwner("two"));
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(REQUEST);
		assertThat(gauge("distributed.lock.held", "stock")).isEqualTo(1);
		assertThat(gauge("distributed.lock.held", "report")).isEqualTo(2);
		assertThat(gauge("distributed.lock.waiting", "stock")).isEqualTo(1);
		assertThat(gauge("distributed.lock.waiting", "report")).isZero();
		lease.close();
		reader.close();
		other.close();
		waiter.join().close();
		this.clock.add(Duration.ofSeconds(1));
		assertThat(gauge("distributed.lock.held", "stock")).isZero();
		assertThat(gauge("distributed.lock.held", "report")).isZero();
		assertThat(gauge("distributed.lock.waiting", "stock")).isZero();
		assertThat(
				this.meters.get("distributed.lock.handoffs").tag("lock.store", "lockStore").functionCounter().count())
			.isEqualTo(1);
	}

	/** A sum by lock name does not show it. */
	@Test
	void oneKeyThatIsStuckAmongBusyOnesOfItsNameIsSeenByTheLongestHoldAndWait() {
		Lease stuck = this.registry.acquire(REQUEST.withOwner("stuck"));
		this.time.advance(Duration.ofSeconds(20));
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(REQUEST);
		this.time.advance(Duration.ofSeconds(60));
		this.registry.acquire(LockRequest.of("stock", 1)).close();
		Lease busy = this.registry.acquire(LockRequest.of("stock", 2));
		assertThat(seconds("distributed.lock.held.longest", "stock")).isEqualTo(80);
		assertThat(seconds("distributed.lock.waiting.longest", "stock")).isEqualTo(60);
		waiter.cancel(false);
		stuck.close();
		this.clock.add(Duration.ofSeconds(1));
		assertThat(seconds("distributed.lock.held.longest", "stock")).isZero();
		assertThat(seconds("distributed.lock.waiting.longest", "stock")).isZero();
		busy.close();
	}

	private double seconds(String meter, String name) {
		return this.meters.get(meter)
			.tag("lock.name", name)
			.tag("lock.store", "lockStore")
			.timeGauge()
			.value(TimeUnit.SECONDS);
	}

	/** Prometheus sees no increase in a series that begins with its first event. */
	@Test
	void theCounterOfAnOutageIsThereBeforeTheFirstRequest() {
		assertThat(unavailable()).isZero();
		this.store.acquire.loseRequests(() -> true);
		this.time.letPass(() -> assertThatThrownBy(() -> this.registry.acquire(REQUEST.withWaitTime(Duration.ZERO)))
			.isInstanceOf(LockUnavailableException.class));
		assertThat(unavailable()).isEqualTo(1);
		this.store.acquire.loseRequests(() -> false);
	}

	private double unavailable() {
		return this.meters.get("distributed.lock.unavailable").tag("lock.store", "lockStore").counter().count();
	}

	@Test
	void theCountersOfANameAreThereSinceItsFirstGrant() {
		this.registry.acquire(REQUEST).close();
		this.time.settle();
		assertThat(counter("distributed.lock.lost")).isZero();
		assertThat(counter("distributed.lock.suspect")).isZero();
		assertThat(counter("distributed.lock.fenced")).isZero();
	}

	@Test
	void aHoldLastsUntilTheTransactionEndsInsideWhichItIsClosed() {
		assertThat(this.registry.delegate()).isInstanceOf(DefaultLockRegistry.class);
		Lease lease = this.registry.acquire(REQUEST);
		TransactionSynchronizationManager.setActualTransactionActive(true);
		TransactionSynchronizationManager.initSynchronization();
		try {
			lease.close();
			assertThat(this.meters.find("distributed.lock.hold").timer()).isNull();
			TransactionSynchronizationManager.getSynchronizations()
				.forEach((each) -> each.afterCompletion(TransactionSynchronization.STATUS_COMMITTED));
		}
		finally {
			TransactionSynchronizationManager.clear();
		}
		assertThat(this.meters.get("distributed.lock.hold").tag("lock.outcome", "released").timer().count()).isOne();
	}

	@Test
	void aNameWhoseFirstRequestStillWaitsAppears() {
		DefaultLockRegistry elsewhere = new DefaultLockRegistry(
				new MemoryLockStore(this.context.getBean(LockMemory.class)), EngineSettings.DEFAULTS,
				LockListener.NO_OP, this.time);
		Lease lease = elsewhere.acquire(REQUEST);
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(REQUEST);
		this.time.settle();
		assertThat(this.meters.find("distributed.lock.waiting").gauge()).isNull();
		assertThat(this.meters.get("distributed.lock.orphans").gauge().value()).isZero();
		assertThat(gauge("distributed.lock.waiting", "stock")).isEqualTo(1);
		waiter.cancel(false);
		lease.close();
		this.time.letPass(elsewhere::close);
	}

	@Test
	void lostAndSuspectLeasesAreCounted() {
		Lease lease = this.registry.acquire(REQUEST.withOwner("job"));
		assertThat(counter("distributed.lock.lost")).isZero();
		this.store.renew.loseRequests(() -> true);
		this.time.advance(LEASE.dividedBy(2));
		assertThat(counter("distributed.lock.suspect")).isEqualTo(1);
		assertThat(counter("distributed.lock.lost")).isZero();
		assertThat(gauge("distributed.lock.held", "stock")).isEqualTo(1);
		this.time.advance(LEASE);
		assertThat(counter("distributed.lock.suspect")).isEqualTo(1);
		assertThat(counter("distributed.lock.lost")).isEqualTo(1);
		this.clock.add(Duration.ofSeconds(1));
		assertThat(lease.isHeld()).isFalse();
		assertThat(gauge("distributed.lock.held", "stock")).isZero();
	}

	@Test
	void transactionsThatTheDatabaseRefusedAreCounted() {
		this.context.getBean(LockMeters.class)
			.onEvent(new LockEvent.TransactionRefused(REQUEST.key(), REQUEST.mode(), "lockStore", 7));
		assertThat(counter("distributed.lock.fenced")).isEqualTo(1);
	}

	@Test
	void locksThatCouldNotBeReleasedAreOrphans() {
		Lease lease = this.registry.acquire(REQUEST);
		this.store.release.loseRequests(() -> true);
		lease.close();
		assertThat(this.meters.get("distributed.lock.orphans").gauge().value()).isEqualTo(1);
		this.store.release.loseRequests(() -> false);
		this.time.advance(LEASE);
		this.clock.add(Duration.ofSeconds(1));
		assertThat(this.meters.get("distributed.lock.orphans").gauge().value()).isZero();
	}

	@Test
	void theGaugesOfOneScrapeHaveOneReading() {
		assertThat(this.meters.get("distributed.lock.orphans").gauge().value()).isZero();
		Lease lease = this.registry.acquire(REQUEST);
		this.store.release.loseRequests(() -> true);
		lease.close();
		assertThat(this.meters.get("distributed.lock.orphans").gauge().value()).isZero();
		this.clock.add(Duration.ofSeconds(1));
		assertThat(this.meters.get("distributed.lock.orphans").gauge().value()).isEqualTo(1);
		this.store.release.loseRequests(() -> false);
		this.time.advance(LEASE);
	}

	@Test
	void aRegistryMayHaveTheNameOfAClosedOne() {
		LockRegistryFactory registries = this.context.getBean(LockRegistryFactory.class);
		LockRegistry closed = registries.create("reports", new MemoryLockStore());
		closed.acquire(REQUEST).close();
		assertThat(gaugeOfReports("distributed.lock.held")).isZero();
		((DefaultLockRegistry) closed.delegate().delegate()).close();
		this.clock.add(Duration.ofSeconds(1));
		assertThat(gaugeOfReports("distributed.lock.orphans")).isZero();
		Lease lease = registries.create("reports", new MemoryLockStore()).acquire(REQUEST);
		this.clock.add(Duration.ofSeconds(1));
		assertThat(gaugeOfReports("distributed.lock.held")).isEqualTo(1);
		lease.close();
	}

	private double gaugeOfReports(String meter) {
		return this.meters.get(meter).tag("lock.store", "reports").gauge().value();
	}

	@Test
	void theRenewalLagHasAUnit() {
		assertThat(this.meters.get("distributed.lock.renewal.lag").timeGauge().value(TimeUnit.SECONDS)).isZero();
		assertThat(this.meters.get("distributed.lock.renewal.lag").timeGauge().getId().getBaseUnit())
			.isEqualTo("seconds");
	}

	@Test
	void aRegistryThatTheFactoryDoesNotKnowHasCountersOnly() {
		this.context.getBean(LockMeters.class)
			.onEvent(new LockEvent.Lost(LockKey.of("stock"), LockMode.EXCLUSIVE, "foreign", 7, "gone"));
		assertThat(this.meters.get("distributed.lock.lost").tag("lock.store", "foreign").counter().count()).isOne();
		assertThat(this.meters.get("distributed.lock.held").tag("lock.store", "foreign").gauge().value()).isZero();
		assertThat(this.meters.find("distributed.lock.orphans").tag("lock.store", "foreign").gauge()).isNull();
	}

	private double gauge(String meter, String name) {
		return this.meters.get(meter).tag("lock.name", name).tag("lock.store", "lockStore").gauge().value();
	}

	private double counter(String meter) {
		return this.meters.get(meter).tag("lock.name", "stock").tag("lock.store", "lockStore").counter().count();
	}

	/**
	 * An application that observes its locks.
	 */
	@EnableDistributedLocks
	static class Application {

		@Bean
		ManualTime time() {
			return new ManualTime();
		}

		@Bean
		LockMemory memory(ManualTime time) {
			return new LockMemory(time);
		}

		@Bean
		FaultInjectingStore lockStore(LockMemory memory) {
			return new FaultInjectingStore(new MemoryLockStore(memory));
		}

		@Bean
		MockClock clock() {
			return new MockClock();
		}

		@Bean
		MeterRegistry meters(MockClock clock) {
			return new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
		}

		@Bean
		ObservationRegistry observations(MeterRegistry meters) {
			ObservationRegistry observations = ObservationRegistry.create();
			observations.observationConfig().observationHandler(new LockMeterObservationHandler(meters));
			return observations;
		}

		@Bean
		LockObservations lockObservations(ObservationRegistry observations) {
			return new LockObservations(observations, null);
		}

		@Bean
		LockMeters lockMeters(MeterRegistry meters, LockRegistryFactory registries) {
			return new LockMeters(meters, registries);
		}

	}

}
