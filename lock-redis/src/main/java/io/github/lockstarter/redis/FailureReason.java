// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.springframework.core.NestedExceptionUtils;

/**
 * Why a server could not be asked, for messages that name it in one line.
 */
public final class FailureReason {

	private FailureReason() {
	}

	/**
	 * Return the message of the innermost cause, or an outer one that begins with it: a
	 * refused connection names its address one level above.
	 * @param failure the failure of a request
	 */
	public static String of(Throwable failure) {
		Throwable root = NestedExceptionUtils.getMostSpecificCause(failure);
		String innermost = messageOf(root);
		for (Throwable cause = failure; cause != null && cause != root; cause = cause.getCause()) {
			if (messageOf(cause).startsWith(innermost)) {
				return messageOf(cause);
			}
		}
		return innermost;
	}

	private static String messageOf(Throwable failure) {
		String message = failure.getMessage();
		return (message != null) ? message : failure.getClass().getSimpleName();
	}

}
