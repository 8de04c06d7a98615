// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.github.lockstarter.store.LockAttempt;

/**
 * A request for a lock that was sent on behalf of a caller.
 *
 * @param sentAt when, on the clock of the engine
 * @param queue whether it puts this JVM into the queue if it is refused
 * @param answer the answer, now or later
 */
record SentRequest(long sentAt, boolean queue, CompletableFuture<LockAttempt> answer) {

	/**
	 * Return the answer.
	 * @throws RuntimeException if there is none, or none yet
	 */
	LockAttempt get() {
		if (!this.answer.isDone()) {
			throw new IllegalStateException("The store has not answered yet");
		}
		try {
			return this.answer.join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
		}
	}

}
