// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Attempts to open a connection that all threads share, one at a time and on a thread of
 * their own. A driver blocks its caller while it connects, and may take longer than a
 * command may. A caller that gives up does not end the attempt for the others.
 *
 * @param <T> the type of the connection
 */
final class ConnectAttempts<T> implements AutoCloseable {

	private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("lock-connect-");

	private final Callable<T> connect;

	/** Guarded by this. */
	private final Queue<CompletableFuture<T>> waiting = new ArrayDeque<>();

	/** Guarded by this. */
	private @Nullable FutureTask<?> attempt;

	private volatile @Nullable T connection;

	/**
	 * Create the attempts without connecting.
	 * @param connect opens the connection; ends when its thread is interrupted
	 */
	ConnectAttempts(Callable<T> connect) {
		this.connect = connect;
		this.threads.setDaemon(true);
	}

	/**
	 * Return the connection, or {@code null} if there is none yet, or if earlier requests
	 * for it are still being sent.
	 */
	@Nullable T connection() {
		return this.connection;
	}

	/**
	 * Let the next request open another connection.
	 * @return whether the connection was the current one
	 */
	synchronized boolean forget(T connection) {
		boolean current = this.connection == connection;
		if (current) {
			this.connection = null;
		}
		return current;
	}

	/**
	 * Return the connection, if necessary after the attempt under way or a new one.
	 * Dependent actions of the stages run in the order of these calls.
	 */
	synchronized CompletableFuture<T> connected() {
		T connection = this.connection;
		if (connection != null) {
			return CompletableFuture.completedFuture(connection);
		}
		CompletableFuture<T> connected = new CompletableFuture<>();
		this.waiting.add(connected);
		if (this.attempt == null) {
			FutureTask<?> attempt = new FutureTask<>(this::connect, null);
			this.threads.execute(attempt);
			this.attempt = attempt;
		}
		return connected;
	}

	private void connect() {
		try {
			T connection = this.connect.call();
			for (CompletableFuture<T> next = next(connection); next != null; next = next(connection)) {
				next.complete(connection);
			}
		}
		catch (Exception | Error ex) {
			fail(ex);
		}
	}

	/** A caller that finds the connection must not overtake callers that wait for it. */
	private synchronized @Nullable CompletableFuture<T> next(T connection) {
		CompletableFuture<T> next = this.waiting.poll();
		if (next == null) {
			this.connection = connection;
			this.attempt = null;
		}
		return next;
	}

	private void fail(Throwable ex) {
		List<CompletableFuture<T>> failed;
		synchronized (this) {
			failed = List.copyOf(this.waiting);
			this.waiting.clear();
			this.attempt = null;
		}
		failed.forEach((connected) -> connected.completeExceptionally(ex));
	}

	/**
	 * End an attempt that is under way.
	 */
	@Override
	public void close() {
		FutureTask<?> attempt;
		synchronized (this) {
			attempt = this.attempt;
		}
		if (attempt != null) {
			fail(new CancellationException("The connection was closed before it was open"));
			attempt.cancel(true);
		}
	}

}
