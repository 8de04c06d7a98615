// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;

/**
 * Asks the store where the current thread must not block: at once if requests do not
 * block, else in a lane of the server.
 */
final class Background {

	private final StoreLanes lanes;

	private final boolean blocking;

	private final Answers answers;

	/**
	 * Create the background of a store.
	 * @param blocking whether requests to the store may block
	 */
	Background(StoreLanes lanes, boolean blocking, Answers answers) {
		this.lanes = lanes;
		this.blocking = blocking;
		this.answers = answers;
	}

	/**
	 * Run an action that may ask the store.
	 */
	void run(LockKey key, Runnable action) {
		if (this.blocking) {
			this.lanes.execute(key, action);
		}
		else {
			action.run();
		}
	}

	/**
	 * Ask the store.
	 * @return the answer, on a thread that may ask the store again
	 */
	<T> CompletionStage<T> ask(LockKey key, Supplier<CompletionStage<T>> request) {
		if (!this.blocking) {
			return this.answers.within(Answers.LONGEST, request.get());
		}
		CompletableFuture<T> answer = new CompletableFuture<>();
		this.lanes.execute(key, () -> request.get().whenComplete((value, ex) -> {
			if (ex != null) {
				answer.completeExceptionally(ex);
			}
			else {
				answer.complete(value);
			}
		}));
		return answer;
	}

}
