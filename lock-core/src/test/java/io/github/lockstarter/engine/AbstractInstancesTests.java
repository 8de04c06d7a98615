// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances of an application on a time that moves only on demand, the store of one of
 * them, and what the registries of a test report.
 */
abstract class AbstractInstancesTests {

	@RegisterExtension
	final ManualInstances instances = new ManualInstances();

	final ManualTime time = this.instances.time;

	final LockMemory memory = this.instances.memory;

	final FaultInjectingStore store = this.instances.store();

	final List<LockEvent> events = new CopyOnWriteArrayList<>();

	/**
	 * Return the registry of another instance, which reports its events.
	 */
	final DefaultLockRegistry registry(LockStore store, Duration leaseTime, Duration timeSlice) {
		return registry(store, leaseTime, 3, timeSlice);
	}

	final DefaultLockRegistry registry(LockStore store, Duration leaseTime, int renewalsPerLease, Duration timeSlice) {
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(20), leaseTime, renewalsPerLease,
				Duration.ofSeconds(1), Duration.ofSeconds(1), timeSlice, Duration.ofSeconds(5));
		return this.instances.registry(store, settings, this.events::add);
	}

	/**
	 * Let time pass, in case a release has to be repeated, until no lock is held or
	 * waited for.
	 */
	final void advanceUntilNothingIsLeft(DefaultLockRegistry... registries) {
		for (DefaultLockRegistry registry : registries) {
			Awaitility.await().until(() -> {
				this.time.advance(Duration.ofSeconds(1));
				return registry.activeLocks() == 0 && registry.backgroundActions() == 0;
			});
		}
		assertThat(this.memory.isEmpty()).isTrue();
	}

}
