// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Rule;

/**
 * The names of keys and channels in Redis.
 *
 * <p>
 * A lock is <code>lock:{stock:1001}</code>, a string whose value is the owner token, as
 * in the canonical protocol of the <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Redis
 * documentation</a>. The braces keep its companions, which have a suffix, in the same
 * slot of a Redis Cluster. Every lock ends in a brace, so no lock has such a suffix.
 */
public final class RedisLockKeys {

	private final String prefix;

	RedisLockKeys(String prefix) {
		Rule.KEY_PREFIX.require("prefix", prefix);
		this.prefix = prefix;
	}

	/**
	 * Return the key of a lock.
	 */
	String lock(LockKey key) {
		return this.prefix + '{' + key.text() + '}';
	}

	/**
	 * Return the companion of a lock that remembers its last fencing base.
	 */
	String fence(String lock) {
		return lock + ":fence";
	}

	/**
	 * Return the companion of a lock that names the place whose turn it is.
	 */
	String turn(String lock) {
		return lock + ":turn";
	}

	/**
	 * Return the companion of a lock that contains its shared owners.
	 */
	String readers(String lock) {
		return lock + ":readers";
	}

	/**
	 * Return the companion of a lock that remembers its release by an owner.
	 */
	String released(String lock, OwnerToken owner) {
		return lock + ":released:" + owner.value();
	}

	/**
	 * Return the companion of a lock that contains its waiting line.
	 */
	String queue(String lock) {
		return lock + ":queue";
	}

	/**
	 * Return the beginning of the channel names; the id of a JVM follows.
	 */
	String channelPrefix() {
		return this.prefix + "wake:";
	}

	/**
	 * Return the channel for messages to a JVM about released locks.
	 */
	String channel(String jvm) {
		return channelPrefix() + jvm;
	}

}
