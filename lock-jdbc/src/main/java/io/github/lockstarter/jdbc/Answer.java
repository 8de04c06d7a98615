// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * The answer to a request that has blocked its thread.
 */
final class Answer {

	private Answer() {
	}

	static <T> CompletionStage<T> of(Supplier<T> request) {
		try {
			return CompletableFuture.completedFuture(request.get());
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Wait for an answer.
	 */
	static <T> T await(CompletableFuture<T> answer) {
		try {
			return answer.join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
		}
	}

	@SuppressWarnings("NullAway") // a stage without a result has null
	static CompletionStage<Void> done(Runnable request) {
		return of(() -> {
			request.run();
			return null;
		});
	}

}
