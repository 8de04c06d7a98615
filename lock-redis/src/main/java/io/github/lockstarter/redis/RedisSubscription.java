// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.SubscriptionListener;

import io.github.lockstarter.store.WaitingLine;

/**
 * One subscription to this JVM's channel, from the connection to its end.
 */
final class RedisSubscription implements MessageListener, SubscriptionListener, AutoCloseable {

	private static final Log logger = LogFactory.getLog(RedisSubscription.class);

	private final Supplier<SubscriptionConnection> connections;

	private final byte[] channel;

	private final WaitingLine.Listener listener;

	private volatile boolean listening;

	private volatile boolean closed;

	/** Guarded by this. */
	private @Nullable Thread thread;

	/** Guarded by this. */
	private @Nullable SubscriptionConnection connection;

	RedisSubscription(Supplier<SubscriptionConnection> connections, byte[] channel, WaitingLine.Listener listener) {
		this.connections = connections;
		this.channel = channel;
		this.listener = listener;
	}

	WaitingLine.Listener listener() {
		return this.listener;
	}

	/**
	 * Return whether messages arrive.
	 */
	boolean isListening() {
		return this.listening;
	}

	/**
	 * Connect and subscribe. Some drivers listen on this thread and return at the end.
	 * Others return at once and reconnect by themselves.
	 * @return whether the subscription continues
	 */
	boolean run() {
		if (!begin(Thread.currentThread())) {
			return false;
		}
		try {
			SubscriptionConnection connection = this.connections.get();
			if (!connected(connection)) {
				connection.close();
				return false;
			}
			return connection.subscribe(this, this.channel);
		}
		finally {
			end();
		}
	}

	private synchronized boolean begin(Thread thread) {
		this.thread = thread;
		return !this.closed;
	}

	private synchronized boolean connected(SubscriptionConnection connection) {
		this.connection = connection;
		return !this.closed;
	}

	private synchronized void end() {
		this.thread = null;
	}

	@Override
	public void onMessage(Message message, byte @Nullable [] pattern) {
		String text = new String(message.getBody(), StandardCharsets.UTF_8);
		try {
			this.listener.onRelease(LockText.parse(text));
		}
		catch (RuntimeException ex) {
			logger.debug("A message about a released lock could not be handled: " + text, ex);
		}
	}

	@Override
	public void onChannelSubscribed(byte[] channel, long count) {
		if (!this.closed) {
			this.listening = true;
			// Messages from before, or from while the connection was lost, were missed
			this.listener.onDoubt();
		}
	}

	/**
	 * End the subscription in any state. Lettuce connects until it is interrupted; Jedis
	 * reads until its connection is closed.
	 */
	@Override
	public void close() {
		SubscriptionConnection connection;
		synchronized (this) {
			this.closed = true;
			this.listening = false;
			connection = this.connection;
			this.connection = null;
			if (this.thread != null && this.thread != Thread.currentThread()) {
				this.thread.interrupt();
			}
		}
		if (connection != null) {
			connection.close();
		}
	}

}
