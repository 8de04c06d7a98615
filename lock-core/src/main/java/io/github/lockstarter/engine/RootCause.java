// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CompletionException;

/**
 * A store's failure, without the exceptions that futures wrap around it.
 */
final class RootCause {

	private RootCause() {
	}

	/**
	 * Return a failure without the exception that a future wraps around it.
	 */
	static Throwable unwrap(Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	/**
	 * Return a failure of a future as an exception that can be thrown.
	 */
	static RuntimeException asRuntime(Throwable failure) {
		Throwable cause = unwrap(failure);
		return (cause instanceof RuntimeException known) ? known : new IllegalStateException(cause);
	}

}
