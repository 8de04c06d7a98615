// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;

import io.github.lockstarter.store.UnusableStoreException;

/**
 * The root cause of a store's failure, without the exceptions that drivers and frameworks
 * wrap around it.
 */
final class RootCause {

	/** A limit, because causes may form a cycle. */
	private static final int DEEPEST = 20;

	private RootCause() {
	}

	/**
	 * Return the message of the innermost cause that has one, or an outer message that
	 * contains it: a refused connection names its address one level above.
	 */
	static String messageOf(Throwable failure) {
		List<String> messages = new ArrayList<>();
		for (Throwable cause = failure; cause != null && messages.size() < DEEPEST; cause = cause.getCause()) {
			String message = describe(cause);
			if (cause instanceof UnusableStoreException) {
				return message;
			}
			messages.add(message);
		}
		String innermost = messages.get(messages.size() - 1);
		return messages.stream().filter((message) -> message.startsWith(innermost)).findFirst().orElse(innermost);
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

	private static String describe(Throwable failure) {
		String message = failure.getMessage();
		StringBuilder description = new StringBuilder((message != null) ? message : failure.getClass().getSimpleName());
		if (failure.getCause() == null) {
			// Jedis adds the failure of each address as a suppressed exception
			for (Throwable suppressed : failure.getSuppressed()) {
				description.append(" (").append(suppressed.getMessage()).append(')');
			}
		}
		return description.toString();
	}

}
