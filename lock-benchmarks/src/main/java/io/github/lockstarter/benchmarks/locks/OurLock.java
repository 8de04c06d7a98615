// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.time.Duration;
import java.util.Set;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.redis.RedisLockSettings;
import io.github.lockstarter.redis.RedisLockStore;

/**
 * The lock of this project, with and without awaiting the reply to a release.
 */
final class OurLock implements Competitor {

	private final String name;

	private final boolean awaitRelease;

	OurLock(String name, boolean awaitRelease) {
		this.name = name;
		this.awaitRelease = awaitRelease;
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public Set<Ability> abilities() {
		return this.awaitRelease ? Set.of(Ability.DISTRIBUTED) : Set.of(Ability.values());
	}

	private RedisLockSettings settings() {
		RedisLockSettings defaults = RedisLockSettings.DEFAULTS;
		return new RedisLockSettings(defaults.prefix(), defaults.fenceRetention(), this.awaitRelease,
				defaults.minReplicaAcks(), defaults.replicaAckTimeout());
	}

	@Override
	public LockClient connect(int port, long leaseMillis) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", port);
		connections.start();
		RedisLockStore store = new RedisLockStore(connections, settings());
		EngineSettings defaults = EngineSettings.DEFAULTS;
		DefaultLockRegistry registry = new DefaultLockRegistry(store,
				new EngineSettings(defaults.waitTime(), Duration.ofMillis(leaseMillis), defaults.renewalsPerLease(),
						defaults.pollInterval(), defaults.pollIntervalWithoutMessages(), defaults.timeSlice(),
						defaults.shutdownTimeout()),
				LockListener.NO_OP);
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				return registry.acquire(LockRequest.of("benchmark", key).withWaitTime(LockRequest.FOREVER))::close;
			}

			@Override
			public void close() {
				registry.close();
				store.close();
				connections.destroy();
			}

		};
	}

}
