// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.EnumSet;
import java.util.Set;

import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * No lock, which shows the cost of the body.
 */
final class NoLock implements Competitor {

	@Override
	public String name() {
		return "no lock, 1 thread";
	}

	@Override
	public Set<ServerKind> servers() {
		return EnumSet.allOf(ServerKind.class);
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of();
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				return () -> {
				};
			}

			@Override
			public void close() {
			}

		};
	}

}
