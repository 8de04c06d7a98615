// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

/**
 * Exception thrown at startup when nothing can keep the locks.
 */
class LockBackendNotFoundException extends IllegalStateException {

	private final boolean redisPresent;

	LockBackendNotFoundException(boolean redisPresent) {
		super(redisPresent ? "Distributed locks need exactly one RedisConnectionFactory bean, or a primary one"
				: "Distributed locks need Redis, and Spring Data Redis is not on the class path");
		this.redisPresent = redisPresent;
	}

	boolean isRedisPresent() {
		return this.redisPresent;
	}

}
