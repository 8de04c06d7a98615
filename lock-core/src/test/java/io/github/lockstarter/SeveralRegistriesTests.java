// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The locks of two registries are different locks, even if their keys are the same.
 */
class SeveralRegistriesTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	@RegisterExtension
	private final ManualInstances here = new ManualInstances();

	@RegisterExtension
	private final ManualInstances there = new ManualInstances();

	private final DefaultLockRegistry registry = this.here.registry();

	private final DefaultLockRegistry other = this.there.registry();

	@Test
	void aLockOfAnotherRegistryIsNotANestedOne() throws Exception {
		try (Lease again = this.registry.acquire(REQUEST); Lease outer = this.registry.acquire(REQUEST)) {
			Lease inner = this.other.acquire(REQUEST);
			assertThat(EngineProbe.activeLocks(this.other)).isOne();
			assertThat(Callers.start(() -> this.other.tryAcquire(REQUEST)).get()).isEmpty();
			inner.close();
			assertThat(this.there.memory.isEmpty()).isTrue();
			assertThat(Callers.start(() -> this.registry.tryAcquire(REQUEST)).get()).isEmpty();
		}
		assertThat(this.here.memory.isEmpty()).isTrue();
	}

	@Test
	void theLossOfALockIsNoneOfThatOfAnotherRegistry() {
		Duration leaseTime = Duration.ofSeconds(5);
		LockTemplate outer = new LockTemplate(this.registry);
		LockTemplate inner = new LockTemplate(this.other);
		outer.withOnLost(OnLost.LOG).executeWithoutResult(REQUEST.withLeaseTime(leaseTime), (lease) -> {
			this.here.time.advance(leaseTime);
			assertThat(lease.isHeld()).isFalse();
			assertThat(inner.<Boolean>execute(REQUEST, Lease::isHeld)).isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> outer.execute(REQUEST, Lease::isHeld));
		});
	}

	@Test
	void severalRegistriesCanBeDrainedWithinOneShutdownTimeout() {
		DefaultLockRegistry further = this.here.registry();
		try (Lease lease = this.registry.acquire(REQUEST); Lease other = further.acquire(LockRequest.of("order"))) {
			long start = this.here.time.now();
			this.here.time.letPass(() -> {
				this.registry.refuse();
				further.refuse();
				assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> further.acquire(REQUEST));
				this.registry.drain();
				further.drain();
			});
			assertThat(Duration.ofNanos(this.here.time.now() - start))
				.isEqualTo(EngineSettings.DEFAULTS.shutdownTimeout());
		}
	}

	@Test
	void aViewOfALockOfAnotherRegistryIsAnotherLock() {
		this.registry.lock(REQUEST.key()).lock();
		this.other.lock(REQUEST.key()).lock();
		this.registry.lock(REQUEST.key()).unlock();
		assertThat(this.here.memory.isEmpty()).isTrue();
		assertThat(this.there.memory.isEmpty()).isFalse();
		this.other.lock(REQUEST.key()).unlock();
	}

}
