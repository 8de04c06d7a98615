// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.redis.RedisLockSettings;
import io.github.lockstarter.redis.RedisLockStore;

/**
 * The lock of this project, with default settings except for its lease time.
 */
final class OurClient implements LockClient {

	private final SpringConnections connections;

	private final RedisLockStore store;

	private final DefaultLockRegistry registry;

	OurClient(RedisAddress address, Duration leaseTime, int minReplicaAcks) {
		this.connections = new SpringConnections(address);
		this.store = new RedisLockStore(this.connections.factory(), settings(minReplicaAcks));
		EngineSettings defaults = EngineSettings.DEFAULTS;
		this.registry = new DefaultLockRegistry(this.store,
				new EngineSettings(defaults.waitTime(), leaseTime, defaults.renewalsPerLease(), defaults.pollInterval(),
						defaults.pollIntervalWithoutMessages(), defaults.timeSlice(), defaults.shutdownTimeout()),
				LockListener.NO_OP);
	}

	private static RedisLockSettings settings(int minReplicaAcks) {
		RedisLockSettings defaults = RedisLockSettings.DEFAULTS;
		return new RedisLockSettings(defaults.prefix(), defaults.fenceRetention(), defaults.awaitRelease(),
				minReplicaAcks, defaults.replicaAckTimeout());
	}

	@Override
	public @Nullable Held tryLock(String key, Duration waitTime) throws InterruptedException {
		try {
			return this.registry.tryAcquire(LockRequest.of("faults", key).withWaitTime(waitTime))
				.map(OurHeld::new)
				.orElse(null);
		}
		catch (LockInterruptedException ex) {
			Thread.interrupted();
			throw new InterruptedException();
		}
	}

	@Override
	public int residue() {
		return EngineProbe.activeLocks(this.registry) + EngineProbe.backgroundActions(this.registry);
	}

	@Override
	public void close() {
		this.registry.close();
		this.store.close();
		this.connections.close();
	}

	private record OurHeld(Lease lease) implements Held {

		@Override
		public long token() {
			return this.lease.fencingToken();
		}

		@Override
		public boolean isHeld() {
			return this.lease.isHeld();
		}

		@Override
		public void unlock() {
			this.lease.close();
		}

	}

}
