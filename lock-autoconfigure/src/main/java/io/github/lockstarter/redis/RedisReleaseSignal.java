// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.util.backoff.FixedBackOff;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.backend.ReleaseListener;
import io.github.lockstarter.backend.ReleaseSignal;

/**
 * Messages about released locks on this JVM's own channel, which is subscribed once, when
 * somebody is about to wait for the first time.
 */
final class RedisReleaseSignal implements ReleaseSignal, AutoCloseable {

	private static final Log logger = LogFactory.getLog(RedisReleaseSignal.class);

	private static final Duration RECOVERY_INTERVAL = Duration.ofMillis(500);

	private static final long RETRY_NANOS = Duration.ofSeconds(5).toNanos();

	private final RedisConnectionFactory connections;

	private final String channel;

	private final ReentrantLock connecting = new ReentrantLock();

	private volatile @Nullable RedisMessageListenerContainer container;

	private volatile long retryAt = System.nanoTime();

	RedisReleaseSignal(RedisConnectionFactory connections, String channel) {
		this.connections = connections;
		this.channel = channel;
	}

	@Override
	public boolean connect(ReleaseListener listener) {
		RedisMessageListenerContainer container = this.container;
		if (container != null) {
			return container.isListening();
		}
		return System.nanoTime() - this.retryAt >= 0 && subscribe(listener);
	}

	private boolean subscribe(ReleaseListener listener) {
		this.connecting.lock();
		try {
			if (this.container != null) {
				return true;
			}
			if (System.nanoTime() - this.retryAt < 0) {
				return false;
			}
			RedisMessageListenerContainer container = createContainer(listener);
			try {
				container.start();
				this.container = container;
				return true;
			}
			catch (RuntimeException ex) {
				this.retryAt = System.nanoTime() + RETRY_NANOS;
				logger.info("Cannot subscribe to '" + this.channel + "', so waiting for locks is done by asking again: "
						+ ex.getMessage());
				stop(container);
				return false;
			}
		}
		finally {
			this.connecting.unlock();
		}
	}

	private RedisMessageListenerContainer createContainer(ReleaseListener listener) {
		SimpleAsyncTaskExecutor subscriptions = new SimpleAsyncTaskExecutor("lock-signal-");
		subscriptions.setDaemon(true);
		RedisMessageListenerContainer container = new RedisMessageListenerContainer();
		container.setConnectionFactory(this.connections);
		container.setSubscriptionExecutor(subscriptions);
		// The listener only wakes a thread, which needs no thread of its own
		container.setTaskExecutor(Runnable::run);
		container.setRecoveryBackoff(new FixedBackOff(RECOVERY_INTERVAL.toMillis(), FixedBackOff.UNLIMITED_ATTEMPTS));
		container.setErrorHandler((ex) -> logger.debug("A message about a released lock could not be handled", ex));
		container.addMessageListener(new SignalListener(listener), ChannelTopic.of(this.channel));
		container.afterPropertiesSet();
		return container;
	}

	@Override
	public void close() {
		RedisMessageListenerContainer container = this.container;
		if (container != null) {
			stop(container);
		}
	}

	private static void stop(RedisMessageListenerContainer container) {
		try {
			container.destroy();
		}
		catch (Exception ex) {
			logger.debug("Could not end the subscription", ex);
		}
	}

	/**
	 * Understands the messages.
	 */
	private record SignalListener(ReleaseListener listener) implements MessageListener, SubscriptionListener {

		@Override
		public void onMessage(Message message, byte @Nullable [] pattern) {
			String text = new String(message.getBody(), StandardCharsets.UTF_8);
			try {
				this.listener.onRelease(LockKey.parse(text));
			}
			catch (IllegalArgumentException ex) {
				logger.debug("Ignoring a message that names no lock", ex);
			}
		}

		@Override
		public void onChannelSubscribed(byte[] channel, long count) {
			// What was published before, or while the connection was lost, was not heard
			this.listener.onDoubt();
		}

	}

}
