// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;

import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.store.WaitingLine;

/**
 * Messages about released locks on this JVM's own channel. The JVM subscribes once,
 * before a caller waits for the first time. It subscribes on a separate thread, because a
 * driver blocks its caller while it connects; no caller waits for that thread.
 */
final class RedisReleaseSignal implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(RedisReleaseSignal.class);

	private static final long RECOVERY_NANOS = Duration.ofMillis(500).toNanos();

	/**
	 * A server that refuses a subscription refuses it until its configuration changes.
	 */
	private static final long REFUSED_NANOS = Duration.ofSeconds(5).toNanos();

	private final Supplier<SubscriptionConnection> connections;

	private final Supplier<String> channel;

	private final LongSupplier clock;

	private final Executor threads;

	private final AtomicReference<@Nullable RedisSubscription> subscription = new AtomicReference<>();

	private volatile long retryAt;

	private volatile boolean told;

	private volatile boolean closed;

	RedisReleaseSignal(Supplier<SubscriptionConnection> connections, Supplier<String> channel, LongSupplier clock,
			Executor threads) {
		this.connections = connections;
		this.channel = channel;
		this.clock = clock;
		this.threads = threads;
		this.retryAt = clock.getAsLong();
	}

	/**
	 * Return threads for subscriptions.
	 */
	static Executor threads() {
		SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("lock-signal-");
		threads.setDaemon(true);
		return threads;
	}

	/**
	 * Return whether messages arrive. If they do not, subscribe without blocking the
	 * caller.
	 */
	boolean listen(WaitingLine.Listener listener) {
		RedisSubscription subscription = this.subscription.get();
		if (subscription != null) {
			return subscription.isListening();
		}
		if (!this.closed && this.clock.getAsLong() - this.retryAt >= 0) {
			subscribe(listener);
		}
		return false;
	}

	/**
	 * Return whether messages arrive, if this JVM has subscribed or could not.
	 */
	Optional<Boolean> isListening() {
		RedisSubscription subscription = this.subscription.get();
		return (subscription != null) ? Optional.of(subscription.isListening())
				: this.told ? Optional.of(false) : Optional.empty();
	}

	private void subscribe(WaitingLine.Listener listener) {
		RedisSubscription subscription = new RedisSubscription(this.connections,
				this.channel.get().getBytes(StandardCharsets.UTF_8), listener);
		if (this.subscription.compareAndSet(null, subscription)) {
			this.threads.execute(() -> run(subscription, listener));
		}
	}

	private void run(RedisSubscription subscription, WaitingLine.Listener listener) {
		boolean goesOn = false;
		try {
			goesOn = !this.closed && subscription.run();
		}
		catch (RuntimeException ex) {
			failed(subscription, ex);
		}
		finally {
			if (!goesOn) {
				end(subscription, listener);
			}
		}
	}

	/**
	 * Subscribe anew, because the server may be another one by now. Waiters do so when
	 * they are asked.
	 */
	void renew() {
		RedisSubscription subscription = this.subscription.get();
		if (subscription != null && subscription.isListening()) {
			this.retryAt = this.clock.getAsLong() + RECOVERY_NANOS;
			this.threads.execute(() -> end(subscription, subscription.listener()));
		}
	}

	private void end(RedisSubscription subscription, WaitingLine.Listener listener) {
		boolean lost = subscription.isListening();
		subscription.close();
		this.subscription.compareAndSet(subscription, null);
		if (lost) {
			// Makes waiters ask, which subscribes again
			listener.onDoubt();
		}
	}

	private void failed(RedisSubscription subscription, RuntimeException ex) {
		boolean refused = !(ex instanceof RedisConnectionFailureException || ex instanceof QueryTimeoutException);
		this.retryAt = this.clock.getAsLong() + (refused ? REFUSED_NANOS : RECOVERY_NANOS);
		boolean news = subscription.isListening() || !this.told;
		if (news && !this.closed) {
			this.told = true;
			logger.info(
					"No messages on '" + this.channel.get() + "', so waiters for locks poll: " + FailureReason.of(ex));
		}
	}

	@Override
	public void close() {
		this.closed = true;
		RedisSubscription subscription = this.subscription.get();
		if (subscription != null) {
			subscription.close();
		}
	}

}
