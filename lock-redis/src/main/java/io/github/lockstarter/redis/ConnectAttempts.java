// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Attempts to open a connection that all threads share, one at a time and on a thread of
 * their own: a driver connects while its caller waits, and may take longer than a command
 * may. Callers come and go, and none of them ends the attempt for the others.
 *
 * @param <T> what is opened
 */
final class ConnectAttempts<T> implements AutoCloseable {

	private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("lock-connect-");

	private final AtomicReference<@Nullable FutureTask<T>> attempt = new AtomicReference<>();

	private final Callable<T> connect;

	private volatile @Nullable T connection;

	/**
	 * Create it without connecting.
	 * @param connect opens the connection; ends when its thread is interrupted
	 */
	ConnectAttempts(Callable<T> connect) {
		this.connect = connect;
		this.threads.setDaemon(true);
	}

	/**
	 * Return the connection, or {@code null} if there is none yet.
	 */
	@Nullable T connection() {
		return this.connection;
	}

	/**
	 * Return the connection, if need be after the attempt that is under way, or a new
	 * one.
	 * @param nanos longest time to wait
	 * @throws RuntimeException if that has failed or takes longer, or the caller was
	 * interrupted
	 */
	T await(long nanos) {
		T connection = this.connection;
		if (connection != null) {
			return connection;
		}
		try {
			return attempt().get(nanos, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while connecting", ex);
		}
		catch (TimeoutException ex) {
			throw new IllegalStateException(
					"No connection to Redis within " + Duration.ofNanos(nanos).toMillis() + " ms");
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : new IllegalStateException(ex);
		}
	}

	private FutureTask<T> attempt() {
		FutureTask<T> attempt = this.attempt.get();
		while (attempt == null || (attempt.isDone() && this.connection == null)) {
			FutureTask<T> next = new FutureTask<>(this::connect);
			if (this.attempt.compareAndSet(attempt, next)) {
				this.threads.execute(next);
			}
			attempt = this.attempt.get();
		}
		return attempt;
	}

	private T connect() throws Exception {
		T connection = this.connect.call();
		this.connection = connection;
		return connection;
	}

	/**
	 * End an attempt that is under way.
	 */
	@Override
	public void close() {
		FutureTask<T> attempt = this.attempt.get();
		if (attempt != null) {
			attempt.cancel(true);
		}
	}

}
