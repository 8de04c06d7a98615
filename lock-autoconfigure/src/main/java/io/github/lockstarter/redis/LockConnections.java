// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The connections on which locks are asked for.
 *
 * @param scripts where to run scripts
 * @param subscriptions where to get connections that subscribe
 * @param closing what to close at the end
 */
record LockConnections(ScriptConnection scripts, RedisConnectionFactory subscriptions,
		Runnable closing) implements AutoCloseable {

	private static final boolean LETTUCE = ClassUtils.isPresent("io.lettuce.core.RedisClient",
			LockConnections.class.getClassLoader());

	private static final boolean JEDIS = ClassUtils.isPresent("redis.clients.jedis.Jedis",
			LockConnections.class.getClassLoader());

	/**
	 * Return connections of our own where the application uses Lettuce, else those of the
	 * application.
	 */
	static LockConnections derivedFrom(RedisConnectionFactory application) {
		LockConnections own = LETTUCE ? LettuceLockConnections.derivedFrom(application) : null;
		if (own == null && JEDIS) {
			own = JedisSubscriptionConnections.derivedFrom(application);
		}
		return (own != null) ? own : new LockConnections(new SpringScriptConnection(application), application, () -> {
		});
	}

	@Override
	public void close() {
		this.closing.run();
	}

}
