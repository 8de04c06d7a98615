// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

import io.github.lockstarter.LockKey;

/**
 * Why a store could not be asked, in one line, without what drivers and frameworks wrap
 * around it.
 */
public final class FailureReason {

	/** A limit, because causes may form a cycle. */
	private static final int DEEPEST = 20;

	private FailureReason() {
	}

	/**
	 * Return the message of the innermost cause that has one, or an outer message that
	 * contains it: a refused connection names its address one level above.
	 * @param failure the failure of a request
	 */
	public static String of(Throwable failure) {
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
		String type = failure.getClass().getSimpleName();
		// The message of these is only the name of what was not found
		boolean name = failure instanceof LinkageError || failure instanceof UnknownHostException;
		StringBuilder description = new StringBuilder((message == null) ? type : (name ? type + ": " : "") + message);
		if (failure.getCause() == null) {
			// Jedis adds the failure of each address as a suppressed exception
			for (Throwable suppressed : failure.getSuppressed()) {
				description.append(" (").append(suppressed.getMessage()).append(')');
			}
		}
		// Drivers break long messages into lines
		return LockKey.inOneLine(description.toString().strip().replaceAll("\\s*\\R\\s*", " "));
	}

}
