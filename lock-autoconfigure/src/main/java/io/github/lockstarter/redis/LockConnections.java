// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.function.Supplier;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The connections on which locks are asked for.
 *
 * @param scripts where to run scripts
 * @param replicated where to run scripts and wait for replicas, which holds up others
 * @param subscriptions opens a connection to subscribe
 * @param closing what to close at the end
 */
record LockConnections(ScriptConnection scripts, ScriptConnection replicated,
		Supplier<SubscriptionConnection> subscriptions, Runnable closing) implements AutoCloseable {

	/**
	 * Longest time to wait for an answer. Where the connections are those of the
	 * application, it only stands in for a time-out that the application has not set.
	 */
	static final Duration LONGEST_ANSWER = Duration.ofSeconds(2);

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
		return (own != null) ? own : ofApplication(application, true, subscriptionsOf(application), () -> {
		});
	}

	/**
	 * Return the connections of the application, with others to subscribe.
	 * @param repeating whether they may repeat scripts though there is no cluster
	 */
	static LockConnections ofApplication(RedisConnectionFactory application, boolean repeating,
			Supplier<SubscriptionConnection> subscriptions, Runnable closing) {
		ScriptConnection scripts = new SpringScriptConnection(application, repeating);
		return new LockConnections(scripts, scripts, subscriptions, closing);
	}

	/**
	 * Return what opens connections of any driver to subscribe.
	 */
	static Supplier<SubscriptionConnection> subscriptionsOf(RedisConnectionFactory connections) {
		return () -> new SpringSubscriptionConnection(connections.getConnection());
	}

	@Override
	public void close() {
		this.scripts.close();
		this.replicated.close();
		this.closing.run();
	}

}
