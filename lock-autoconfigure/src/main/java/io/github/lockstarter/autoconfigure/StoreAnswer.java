// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.store.LockStore;

/**
 * Asks a store with a time limit.
 */
final class StoreAnswer {

	/** A store answers within a few seconds, or fails. */
	static final Duration PATIENCE = Duration.ofSeconds(5);

	private static final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("lock-question-");

	static {
		threads.setDaemon(true);
	}

	private StoreAnswer() {
	}

	/**
	 * Ask a store, on a thread of its own if the store may block.
	 */
	static <T> CompletableFuture<T> ask(LockStore store, Supplier<CompletionStage<T>> question) {
		return CompletableFuture.supplyAsync(question, store.mayBlock() ? threads : Runnable::run)
			.thenCompose(Function.identity());
	}

	/**
	 * Wait for an answer.
	 * @throws Missing if there is none
	 */
	static <T> T await(CompletableFuture<T> answer, Duration patience) throws Missing {
		try {
			return answer.get(patience.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			throw new Missing("no answer within " + patience.toMillis() + " ms", ex);
		}
		catch (ExecutionException ex) {
			throw new Missing(FailureReason.of(ex), ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new Missing("interrupted", ex);
		}
	}

	/**
	 * There is no answer.
	 */
	static final class Missing extends Exception {

		private final String reason;

		Missing(String reason, Exception cause) {
			super(reason, cause);
			this.reason = reason;
		}

		String reason() {
			return this.reason;
		}

	}

}
