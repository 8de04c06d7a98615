// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The fenced lock of Redisson, renewed by its watchdog. A holder is not notified of a
 * loss.
 */
final class RedissonClientLock implements LockClient {

	private final RedissonClient redisson;

	RedissonClientLock(ServerAddress address, Duration leaseTime) {
		Config config = new Config();
		config.setLockWatchdogTimeout(leaseTime.toMillis());
		String[] nodes = address.nodes().stream().map((node) -> "redis://" + node).toArray(String[]::new);
		switch (address.kind()) {
			case SINGLE -> config.useSingleServer().setAddress(nodes[0]);
			case SENTINEL -> config.useSentinelServers()
				.setMasterName(ServerAddress.PRIMARY)
				.setCheckSentinelsList(false)
				.addSentinelAddress(nodes);
			case CLUSTER -> config.useClusterServers().addNodeAddress(nodes);
			default -> throw new IllegalArgumentException(address + " is not one deployment");
		}
		this.redisson = Redisson.create(config);
	}

	@Override
	public @Nullable Held tryLock(String key, Duration waitTime) throws InterruptedException {
		RFencedLock lock = this.redisson.getFencedLock("faults:" + key);
		Long token = lock.tryLockAndGetToken(waitTime.toMillis(), TimeUnit.MILLISECONDS);
		return (token != null) ? new RedissonHeld(lock, token) : null;
	}

	@Override
	public int residue() {
		return 0;
	}

	@Override
	public void close() {
		this.redisson.shutdown(0, 2, TimeUnit.SECONDS);
	}

	private record RedissonHeld(RFencedLock lock, long token) implements Held {

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
