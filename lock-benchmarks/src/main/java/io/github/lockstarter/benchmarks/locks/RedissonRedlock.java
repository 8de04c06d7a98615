// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * The {@link RedissonRedLock} of Redisson, renewed by its watchdog.
 */
final class RedissonRedlock implements Competitor {

	@Override
	public String name() {
		return "Redisson RedLock";
	}

	@Override
	public Set<ServerKind> servers() {
		return Set.of(ServerKind.REDLOCK);
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of(Ability.DISTRIBUTED, Ability.CONTENDED, Ability.RENEWED, Ability.MANY_WAITERS);
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		List<RedissonClient> clients = Arrays.stream(server.ports()).mapToObj((port) -> {
			Config config = new Config();
			config.setLockWatchdogTimeout(leaseMillis);
			config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
			return Redisson.create(config);
		}).toList();
		return new LockClient() {

			@Override
			@SuppressWarnings("deprecation")
			public Runnable lock(String key) {
				RLock lock = new RedissonRedLock(
						clients.stream().map((client) -> client.getLock("benchmark:" + key)).toArray(RLock[]::new));
				lock.lock();
				return lock::unlock;
			}

			@Override
			public void close() {
				clients.forEach((client) -> client.shutdown(0, 2, TimeUnit.SECONDS));
			}

		};
	}

	@Override
	public long clientCommands(Map<String, Long> calls, long acquisitions) {
		// As with one server, each unlock deletes a lock in its script, and a latch with
		// a command
		long latches = Math.max(0, calls.getOrDefault("del", 0L) - acquisitions * 3);
		return Competitor.super.clientCommands(calls, acquisitions) + latches;
	}

}
