// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;

import io.github.lockstarter.store.UnusableStoreException;

/**
 * The meaning of script errors, whichever driver reports them.
 */
final class ScriptErrors {

	private ScriptErrors() {
	}

	/**
	 * Return whether the server does not know the script.
	 */
	static boolean isUnknownScript(Throwable ex) {
		return hasCode(ex, "NOSCRIPT");
	}

	/**
	 * Return the exception to throw.
	 * @param ex the exception of the driver
	 * @param lock the key of the lock
	 */
	static RuntimeException translate(Throwable ex, byte[] lock) {
		if (hasCode(ex, "WRONGTYPE")) {
			return new UnusableStoreException("Redis key '" + new String(lock, StandardCharsets.UTF_8)
					+ "' or a companion of it holds something other than a lock;"
					+ " choose another distributed-lock.key-prefix or another lock name", ex);
		}
		// Redis 7.0 has no error code for a command that a script may not run
		if (hasCode(ex, "NOPERM") || hasCode(ex, "The user executing the script")) {
			return new UnusableStoreException("The Redis user lacks a permission that the locks need; see"
					+ " 'What Redis has to allow' in docs/guarantees.md of this library", ex);
		}
		return (ex instanceof RuntimeException runtime) ? runtime : new IllegalStateException(ex);
	}

	private static boolean hasCode(Throwable ex, String code) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause.getMessage() != null && cause.getMessage().contains(code)) {
				return true;
			}
		}
		return false;
	}

}
