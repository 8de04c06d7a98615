// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's {@code RedissonRedLock}, renewed by the watchdogs of its servers. It has no
 * fencing tokens, and a holder is not notified of a loss.
 */
final class RedissonRedlockClient implements LockClient {

	private final List<RedissonClient> servers;

	RedissonRedlockClient(ServerAddress address, Duration leaseTime) {
		this.servers = address.nodes().stream().map((node) -> connect(node, leaseTime)).toList();
	}

	private static RedissonClient connect(String node, Duration leaseTime) {
		Config config = new Config();
		config.setLockWatchdogTimeout(leaseTime.toMillis());
		config.useSingleServer().setAddress("redis://" + node);
		return Redisson.create(config);
	}

	@Override
	@SuppressWarnings("deprecation")
	public @Nullable Held tryLock(String key, Duration waitTime) throws InterruptedException {
		RLock lock = new RedissonRedLock(
				this.servers.stream().map((server) -> server.getLock("faults:" + key)).toArray(RLock[]::new));
		return lock.tryLock(waitTime.toMillis(), TimeUnit.MILLISECONDS) ? new RedlockHeld(lock) : null;
	}

	@Override
	public int residue() {
		return 0;
	}

	@Override
	public void close() {
		this.servers.forEach((server) -> server.shutdown(0, 2, TimeUnit.SECONDS));
	}

	private record RedlockHeld(RLock lock) implements Held {

		@Override
		public long token() {
			return 0;
		}

		@Override
		public boolean isHeld() {
			return true;
		}

		@Override
		public void unlock() {
			this.lock.unlock();
		}

	}

}
