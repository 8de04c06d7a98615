// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.backend.LockAttempt;
import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.backend.LockGrant;
import io.github.lockstarter.backend.LockRefusal;
import io.github.lockstarter.backend.OwnerToken;
import io.github.lockstarter.backend.ReleaseOutcome;
import io.github.lockstarter.backend.ReleaseSignal;

/**
 * Locks in Redis 6.2 or newer, or Valkey 7.2 or newer: one atomic script per operation,
 * and one channel per JVM on which it is told that a lock it waits for is free.
 *
 * <p>
 * A lock is set as {@code SET key token NX PX} does and released by compare-and-delete,
 * so programs in other languages that follow the Redis documentation exclude this one and
 * are excluded by it.
 */
public final class RedisLockBackend implements LockBackend, AutoCloseable {

	/** Waiters ask at least every few seconds, so a queue without arrivals is dead. */
	private static final String QUEUE_PATIENCE = "60000";

	private final String jvm = OwnerToken.random().value();

	private final RedisLockKeys keys;

	private final String fenceRetention;

	private final LockConnections connections;

	private final RedisReleaseSignal signal;

	/**
	 * Create a backend.
	 * @param connectionFactory the application's way to Redis. Of one that uses Lettuce
	 * only the configuration is used, with connections that fail fast and repeat nothing
	 * @param prefix start of every key, see {@link RedisLockKeys#isValidPrefix}
	 * @param fenceRetention how long the last fencing token of an idle lock is
	 * remembered; must be longer than any lease
	 */
	public RedisLockBackend(RedisConnectionFactory connectionFactory, String prefix, Duration fenceRetention) {
		this.keys = new RedisLockKeys(prefix);
		this.fenceRetention = millis(fenceRetention);
		this.connections = LockConnections.derivedFrom(connectionFactory);
		this.signal = new RedisReleaseSignal(this.connections.subscriptions(), this.keys.channel(this.jvm));
	}

	@Override
	public LockAttempt acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue) {
		String lock = this.keys.lock(key);
		List<Long> answer = LockScript.ACQUIRE.run(this.connections.factory(),
				List.of(lock, this.keys.fence(lock), this.keys.queue(lock)), owner.value(), millis(leaseTime),
				this.fenceRetention, this.jvm, flag(queue), QUEUE_PATIENCE);
		long number = answer.get(1);
		if (answer.get(0) == 1) {
			return new LockGrant(number);
		}
		return new LockRefusal((number >= 0) ? Duration.ofMillis(number) : null);
	}

	@Override
	public boolean renew(LockKey key, OwnerToken owner, Duration leaseTime) {
		Long answer = LockScript.RENEW.run(this.connections.factory(), List.of(this.keys.lock(key)), owner.value(),
				millis(leaseTime));
		return answer == 1;
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerToken owner, boolean queue) {
		String lock = this.keys.lock(key);
		Long answer = LockScript.RELEASE.run(this.connections.factory(), List.of(lock, this.keys.queue(lock)),
				owner.value(), this.jvm, flag(queue), QUEUE_PATIENCE, this.keys.channelPrefix(), key.toString());
		return switch (answer.intValue()) {
			case 0 -> ReleaseOutcome.NOT_OWNER;
			case 1 -> ReleaseOutcome.RELEASED;
			default -> ReleaseOutcome.RELEASED_TO_WAITER;
		};
	}

	@Override
	public void withdraw(LockKey key) {
		String lock = this.keys.lock(key);
		LockScript.WITHDRAW.<Long>run(this.connections.factory(), List.of(lock, this.keys.queue(lock)), this.jvm,
				this.keys.channelPrefix(), key.toString());
	}

	@Override
	public ReleaseSignal releaseSignal() {
		return this.signal;
	}

	/**
	 * Close the connections that this backend has opened.
	 */
	@Override
	public void close() {
		this.signal.close();
		this.connections.close();
	}

	private static String millis(Duration duration) {
		return Long.toString(duration.toMillis());
	}

	private static String flag(boolean value) {
		return value ? "1" : "0";
	}

}
