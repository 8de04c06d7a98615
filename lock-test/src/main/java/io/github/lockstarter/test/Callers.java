// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.awaitility.Awaitility;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that call locks in tests.
 */
public final class Callers {

	/** Longer than a caller waits by default: that fails first, and says why. */
	static final Duration PATIENCE = Duration.ofMinutes(2);

	private Callers() {
	}

	/**
	 * Run a call on a thread of its own.
	 */
	public static <T> Call<T> start(Callable<T> body) {
		CompletableFuture<T> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(body.call());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
		thread.setDaemon(true);
		thread.start();
		return new Call<>(thread, result);
	}

	/**
	 * Wait for a latch where no exception can be thrown. An interrupt ends the wait, and
	 * stays noted.
	 */
	public static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).as("the latch is open").isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * A call under way.
	 */
	public record Call<T>(Thread thread, CompletableFuture<T> result) {

		/**
		 * Wait until the thread is parked.
		 */
		public Call<T> awaitParked() {
			Awaitility.await()
				.atMost(PATIENCE)
				.pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(1))
				.until(this::isParked);
			return this;
		}

		private boolean isParked() {
			assertThat(this.result).as("the call ended and never waited").isNotDone();
			return this.thread.getState() == Thread.State.TIMED_WAITING
					|| this.thread.getState() == Thread.State.WAITING;
		}

		/**
		 * Return the result, or throw the exception of the call.
		 */
		public T get() throws Exception {
			try {
				return this.result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
			}
			catch (ExecutionException ex) {
				if (ex.getCause() instanceof Exception cause) {
					throw cause;
				}
				if (ex.getCause() instanceof Error cause) {
					throw cause;
				}
				throw ex;
			}
			catch (TimeoutException ex) {
				throw new AssertionError("The call hangs at " + java.util.Arrays.toString(this.thread.getStackTrace()),
						ex);
			}
		}

	}

}
