// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.io.IOException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import redis.clients.jedis.BinaryJedisPubSub;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.providers.ConnectionProvider;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.DefaultMessage;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * A Jedis connection for one subscription. A Spring connection takes another one from a
 * pool to subscribe, which is not closed with it and would wait for an answer forever.
 * This connection is closed through its socket, and waits for the confirmation no longer
 * than its configuration lets a blocking command wait.
 */
final class JedisSubscriptionConnection implements SubscriptionConnection {

	private static final Log logger = LogFactory.getLog(JedisSubscriptionConnection.class);

	private final Connection connection;

	private final Runnable returning;

	private JedisSubscriptionConnection(Connection connection, Runnable returning) {
		this.connection = connection;
		this.returning = returning;
	}

	/**
	 * Connect.
	 * @param spring the connection of Spring, which may be a whole client
	 */
	static JedisSubscriptionConnection open(RedisConnection spring) {
		if (spring.getNativeConnection() instanceof Jedis jedis) {
			return new JedisSubscriptionConnection(jedis.getConnection(), spring::close);
		}
		try {
			Connection connection = providerOf((UnifiedJedis) spring.getNativeConnection()).getConnection();
			return new JedisSubscriptionConnection(connection, connection::close);
		}
		catch (JedisConnectionException ex) {
			throw new RedisConnectionFailureException("Cannot connect to subscribe", ex);
		}
	}

	/**
	 * The clients for a sentinel or a cluster have no method that returns a connection.
	 */
	private static ConnectionProvider providerOf(UnifiedJedis client) {
		Object provider = new DirectFieldAccessor(client).getPropertyValue("provider");
		if (provider instanceof ConnectionProvider connections) {
			return connections;
		}
		throw new IllegalStateException("Cannot subscribe with Jedis: " + client.getClass().getName()
				+ " has no ConnectionProvider; use a version of Jedis that Spring Data Redis supports, or Lettuce");
	}

	@Override
	public boolean subscribe(RedisSubscription listener, byte[] channel) {
		try {
			new Messages(listener).proceed(this.connection, channel);
			return false;
		}
		catch (JedisConnectionException ex) {
			throw new RedisConnectionFailureException("The subscription has ended", ex);
		}
		finally {
			close();
			this.returning.run();
		}
	}

	@Override
	public void close() {
		try {
			this.connection.forceDisconnect();
		}
		catch (IOException ex) {
			logger.debug("Could not close the connection of the subscription", ex);
		}
	}

	/**
	 * The messages that Jedis reads.
	 */
	private final class Messages extends BinaryJedisPubSub {

		private final RedisSubscription listener;

		Messages(RedisSubscription listener) {
			this.listener = listener;
		}

		@Override
		public void onSubscribe(byte[] channel, int count) {
			// The next message may come at any time
			JedisSubscriptionConnection.this.connection.setSoTimeout(0);
			this.listener.onChannelSubscribed(channel, count);
		}

		@Override
		public void onMessage(byte[] channel, byte[] message) {
			this.listener.onMessage(new DefaultMessage(channel, message), null);
		}

	}

}
