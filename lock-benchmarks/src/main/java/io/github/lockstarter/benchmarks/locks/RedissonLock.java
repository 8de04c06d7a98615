// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.github.lockstarter.benchmarks.servers.ServerAddress;

/**
 * The {@link RLock} of Redisson, renewed by its watchdog.
 */
final class RedissonLock implements Competitor {

	@Override
	public String name() {
		return "Redisson";
	}

	@Override
	public Set<Ability> abilities() {
		return Ability.ofLocks();
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		Config config = new Config();
		config.setLockWatchdogTimeout(leaseMillis);
		config.useSingleServer().setAddress("redis://127.0.0.1:" + server.port());
		RedissonClient redisson = Redisson.create(config);
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				RLock lock = redisson.getLock("benchmark:" + key);
				lock.lock();
				return lock::unlock;
			}

			@Override
			public void close() {
				redisson.shutdown(0, 2, TimeUnit.SECONDS);
			}

		};
	}

	@Override
	public long clientCommands(Map<String, Long> calls, long acquisitions) {
		// An unlock deletes the lock in its script, and then its latch with a command
		long latches = Math.max(0, calls.getOrDefault("del", 0L) - acquisitions);
		return Competitor.super.clientCommands(calls, acquisitions) + latches;
	}

}
