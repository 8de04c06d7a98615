// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.benchmarks.servers.ServerKind;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;

/**
 * The lock of this project, with defaults or with other settings.
 */
final class OurLock implements Competitor {

	private final String name;

	private final Set<ServerKind> servers;

	private final boolean varied;

	private OurLock(String name, Set<ServerKind> servers, boolean varied) {
		this.name = name;
		this.servers = servers;
		this.varied = varied;
	}

	static OurLock withDefaults(String name) {
		return new OurLock(name, EnumSet.allOf(ServerKind.class), false);
	}

	/**
	 * Return the lock with settings of a kind of server that make it safer and slower.
	 */
	static OurLock varied(String name, ServerKind server) {
		return new OurLock(name, Set.of(server), true);
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public Set<Ability> abilities() {
		return this.varied ? Set.of(Ability.DISTRIBUTED) : Ability.ofLocks();
	}

	@Override
	public Set<ServerKind> servers() {
		return this.servers;
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		OurStore opened = OurStore.open(server, leaseMillis, this.varied);
		EngineSettings defaults = EngineSettings.DEFAULTS;
		DefaultLockRegistry registry = new DefaultLockRegistry(opened.store(),
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
				opened.close().run();
			}

		};
	}

}
