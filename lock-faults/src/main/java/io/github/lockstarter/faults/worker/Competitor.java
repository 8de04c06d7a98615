// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.Locale;

/**
 * The competitors whose locks are attacked.
 */
public enum Competitor {

	/** The locks of this project. */
	OURS("ours"),

	/** The same, with a replica that confirms each grant. */
	OURS_CONFIRMED("ours, min-replica-acks 1"),

	/** Redisson's {@code RFencedLock}. */
	REDISSON("Redisson"),

	/** Spring Integration's {@code RedisLockRegistry}. */
	SPRING_INTEGRATION("Spring Integration");

	private final String title;

	Competitor(String title) {
		this.title = title;
	}

	public String title() {
		return this.title;
	}

	/**
	 * Return whether this is a lock of this project.
	 */
	public boolean isOurs() {
		return this == OURS || this == OURS_CONFIRMED;
	}

	/**
	 * Return whether there are fencing tokens.
	 */
	public boolean isFenced() {
		return this != SPRING_INTEGRATION;
	}

	/**
	 * Return whether a nested grant has the token of the outer one; in Redisson it has
	 * its own.
	 */
	public boolean keepsTokenWhenNested() {
		return isOurs();
	}

	/**
	 * Return whether a token was issued by the store, and not in a hand-off.
	 */
	public boolean isFromStore(long token) {
		return !isOurs() || token % 4096 == 0;
	}

	/**
	 * Return the key of a lock in Redis.
	 */
	public String redisKey(String key) {
		return String.format(Locale.ROOT, isOurs() ? "lock:{faults:%s}" : "faults:%s", key);
	}

	/**
	 * Return whether a key may be left without holders and waiters: the last fencing
	 * token.
	 */
	public boolean mayBeLeft(String redisKey) {
		return redisKey.endsWith(":fence") || redisKey.startsWith("redisson_lock_token");
	}

	LockClient connect(RedisAddress address, Duration leaseTime) {
		return switch (this) {
			case OURS -> new OurClient(address, leaseTime, 0);
			case OURS_CONFIRMED -> new OurClient(address, leaseTime, 1);
			case REDISSON -> new RedissonClientLock(address, leaseTime);
			case SPRING_INTEGRATION -> new SpringIntegrationClient(address, leaseTime);
		};
	}

}
