// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;

import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * The {@link RedisLockRegistry} of Spring Integration with pub/sub notifications and
 * renewal. There are no fencing tokens, and a holder is not notified of a loss.
 */
final class SpringIntegrationClient implements LockClient {

	private final SpringConnections connections;

	private final ThreadPoolTaskScheduler renewals = new ThreadPoolTaskScheduler();

	private final RedisLockRegistry registry;

	SpringIntegrationClient(ServerAddress address, Duration leaseTime) {
		this.connections = SpringConnections.withLettuce(address);
		this.renewals.setDaemon(true);
		this.renewals.initialize();
		this.registry = new RedisLockRegistry(this.connections.factory(), "faults", leaseTime);
		this.registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
		this.registry.setRenewalTaskScheduler(this.renewals);
	}

	@Override
	public @Nullable Held tryLock(String key, Duration waitTime) throws InterruptedException {
		Lock lock = this.registry.obtain(key);
		return lock.tryLock(waitTime.toMillis(), TimeUnit.MILLISECONDS) ? new SpringIntegrationHeld(lock) : null;
	}

	@Override
	public int residue() {
		return 0;
	}

	@Override
	public void close() {
		this.registry.destroy();
		this.renewals.destroy();
		this.connections.close();
	}

	private record SpringIntegrationHeld(Lock lock) implements Held {

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
