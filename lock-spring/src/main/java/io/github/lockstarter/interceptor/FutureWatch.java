// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Polls plain futures, which send no notification when they complete. One thread polls
 * all of them and exists only while there are any. It outlives the registry of the locks,
 * because the work behind the futures may still be running.
 */
final class FutureWatch {

	private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);

	/** Guarded by this. */
	private final List<Followed<?>> watched = new ArrayList<>();

	/** Guarded by this. */
	private boolean looking;

	private volatile long pause;

	/**
	 * Return a future that completes as a plain one does; cancelling it cancels the plain
	 * one.
	 */
	<T extends @Nullable Object> CompletableFuture<T> follow(Future<T> future) {
		Followed<T> followed = new Followed<>(future);
		if (!followed.look()) {
			watch(followed);
		}
		return followed;
	}

	private synchronized void watch(Followed<?> followed) {
		this.watched.add(followed);
		this.pause = SHORTEST_PAUSE;
		if (!this.looking) {
			this.looking = true;
			// The thread outlives the current call, so it must not inherit its context
			Thread thread = new Thread(null, this::lookAtAll, "lock-future", 0, false);
			// From JDK 21 on, such a thread would have the class loader of the JVM
			thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
			thread.setDaemon(true);
			thread.start();
		}
	}

	private void lookAtAll() {
		for (List<Followed<?>> all = underWay(); !all.isEmpty(); all = underWay()) {
			all.forEach(Followed::look);
			Thread.interrupted();
			LockSupport.parkNanos(this, this.pause);
			this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
		}
	}

	private synchronized List<Followed<?>> underWay() {
		this.watched.removeIf(Followed::isDone);
		this.looking = !this.watched.isEmpty();
		return List.copyOf(this.watched);
	}

	private static final class Followed<T extends @Nullable Object> extends CompletableFuture<T> {

		private final Future<T> future;

		Followed(Future<T> future) {
			this.future = future;
		}

		/**
		 * Complete if the future has completed.
		 * @return whether it is complete
		 */
		boolean look() {
			try {
				if (isDone() || !this.future.isDone()) {
					return isDone();
				}
				complete(this.future.get());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return false;
			}
			catch (ExecutionException ex) {
				completeExceptionally((ex.getCause() != null) ? ex.getCause() : ex);
			}
			catch (Throwable ex) {
				completeExceptionally(ex);
			}
			return true;
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			this.future.cancel(mayInterruptIfRunning);
			return super.cancel(mayInterruptIfRunning);
		}

	}

}
