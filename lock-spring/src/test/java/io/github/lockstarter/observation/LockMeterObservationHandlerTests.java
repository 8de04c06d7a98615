// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationHandler.FirstMatchingCompositeObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The timers of locks.
 */
class LockMeterObservationHandlerTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	@RegisterExtension
	final ManualInstances instances = new ManualInstances();

	private final FaultInjectingStore store = this.instances.store();

	private final MockClock clock = new MockClock();

	private final SimpleMeterRegistry meters = new SimpleMeterRegistry(SimpleConfig.DEFAULT, this.clock);

	@Test
	void aHoldIsTimed() {
		LockRegistry registry = registry(new LockMeterObservationHandler(this.meters));
		for (int i = 0; i < 2; i++) {
			try (Lease lease = registry.acquire(REQUEST)) {
				this.clock.add(Duration.ofSeconds(2));
			}
		}
		Timer timer = this.meters.get("distributed.lock.hold").tags("lock.outcome", "released").timer();
		assertThat(timer.count()).isEqualTo(2);
		assertThat(timer.totalTime(TimeUnit.SECONDS)).isEqualTo(4);
	}

	@Test
	void theTimersAreThoseOfTheDefaultHandler() {
		List<Meter.Id> ours = use(registry(new LockMeterObservationHandler(this.meters)));
		assertThat(ours).extracting(Meter.Id::getName)
			.containsExactlyInAnyOrder("distributed.lock.acquire", "distributed.lock.acquire", "distributed.lock.hold");
		this.meters.clear();
		List<Meter.Id> others = use(registry(new DefaultMeterObservationHandler(this.meters,
				DefaultMeterObservationHandler.IgnoredMeters.LONG_TASK_TIMER)));
		assertThat(ours).containsExactlyInAnyOrderElementsOf(others);
	}

	@Test
	void theFirstHandlerOfAGroupGetsThem() {
		use(registry(new LockMeterObservationHandler(this.meters), new DefaultMeterObservationHandler(this.meters)));
		assertThat(this.meters.find("distributed.lock.hold.active").longTaskTimer()).isNull();
		assertThat(this.meters.get("distributed.lock.acquire")
			.tags(Tags.of("error", "LockUnavailableException"))
			.timer()
			.count()).isOne();
	}

	private List<Meter.Id> use(LockRegistry registry) {
		registry.acquire(REQUEST).close();
		this.store.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquire(REQUEST));
		this.store.acquire.loseRequests(() -> false);
		return this.meters.getMeters().stream().map(Meter::getId).toList();
	}

	private LockRegistry registry(MeterObservationHandler<?>... handlers) {
		ObservationRegistry micrometer = ObservationRegistry.create();
		micrometer.observationConfig()
			.observationHandler(new FirstMatchingCompositeObservationHandler(List.of(handlers)));
		LockObservations observations = new LockObservations(micrometer, null);
		DefaultLockRegistry registry = this.instances.registry(this.store, observations);
		return observations.decorate(registry.name(), registry);
	}

}
