// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayList;
import java.util.List;

import io.github.lockstarter.store.UnusableStoreException;

/**
 * What a failure of the store comes from, below what drivers and frameworks have wrapped
 * around it.
 */
final class RootCause {

	/** Causes may refer to each other in a circle. */
	private static final int DEEPEST = 20;

	private RootCause() {
	}

	/**
	 * Return the message of the innermost cause that has one, or a message around it that
	 * says the same and more: a refused connection names its address one level above.
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

	private static String describe(Throwable failure) {
		String message = failure.getMessage();
		StringBuilder description = new StringBuilder((message != null) ? message : failure.getClass().getSimpleName());
		if (failure.getCause() == null) {
			// Jedis keeps there what became of each address
			for (Throwable suppressed : failure.getSuppressed()) {
				description.append(" (").append(suppressed.getMessage()).append(')');
			}
		}
		return description.toString();
	}

}
