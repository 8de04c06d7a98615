// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * The upper bound within one JVM: a fair {@link ReentrantLock}.
 */
final class FairLock implements Competitor {

	@Override
	public String name() {
		return "fair ReentrantLock";
	}

	@Override
	public Set<ServerKind> servers() {
		return EnumSet.allOf(ServerKind.class);
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of(Ability.CONTENDED, Ability.MANY_WAITERS);
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		Map<String, ReentrantLock> locks = new ConcurrentHashMap<>();
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				ReentrantLock lock = locks.computeIfAbsent(key, (k) -> new ReentrantLock(true));
				lock.lock();
				return lock::unlock;
			}

			@Override
			public void close() {
			}

		};
	}

}
