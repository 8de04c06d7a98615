// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;

/**
 * Instances that share a store in memory, whose leases end when a test says so, and whose
 * owners do not learn of that by themselves.
 */
final class EndlessLeases implements AutoCloseable {

	private static final EngineSettings DEFAULTS = EngineSettings.DEFAULTS;

	/** No test lasts until a renewal. */
	private static final EngineSettings SETTINGS = new EngineSettings(Duration.ofMinutes(1), Duration.ofHours(1), 3,
			DEFAULTS.pollInterval(), DEFAULTS.pollIntervalWithoutMessages(), DEFAULTS.timeSlice(), Duration.ZERO);

	private final AtomicLong now = new AtomicLong();

	private final LockMemory memory = new LockMemory(this.now::get);

	private final List<DefaultLockRegistry> instances = new ArrayList<>();

	MemoryLockStore store() {
		return new MemoryLockStore(this.memory);
	}

	DefaultLockRegistry instance() {
		DefaultLockRegistry instance = new DefaultLockRegistry(store(), SETTINGS, LockListener.NO_OP);
		this.instances.add(instance);
		return instance;
	}

	void expire() {
		this.now.addAndGet(SETTINGS.leaseTime().multipliedBy(2).toNanos());
	}

	@Override
	public void close() {
		this.instances.forEach(DefaultLockRegistry::close);
	}

}
