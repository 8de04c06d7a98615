// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.springframework.data.redis.RedisConnectionFailureException;

import io.github.lockstarter.store.UnusableStoreException;

/**
 * The meaning of script errors, whichever driver reports them.
 */
final class ScriptErrors {

	private static final List<String> WRONG_SERVER = List.of("READONLY", "NOREPLICAS", "MASTERDOWN", "LOADING",
			"MISCONF");

	private ScriptErrors() {
	}

	/**
	 * Return whether the server does not know the script.
	 */
	static boolean isUnknownScript(Throwable ex) {
		return hasCode(ex, "NOSCRIPT");
	}

	/**
	 * Return whether a request has certainly not been sent. Lettuce tells that only in
	 * its messages.
	 */
	static boolean isUnsent(Throwable ex) {
		return ex instanceof RedisConnectionFailureException || hasCode(ex, "Currently not connected")
				|| hasCode(ex, "Request queue size exceeded");
	}

	/**
	 * Return whether a server, or the driver itself, has not answered in time.
	 */
	static boolean isTimeout(Throwable ex) {
		return hasCode(ex, "timed out");
	}

	/**
	 * Return whether a server answers that it is not the one to ask, at least for now. A
	 * failover may leave connections to the former primary open.
	 */
	static boolean isWrongServer(Throwable ex) {
		return WRONG_SERVER.stream().anyMatch((code) -> hasCode(ex, code));
	}

	/**
	 * Return whether another server of the cluster has the lock.
	 */
	static boolean isRedirection(Throwable ex) {
		return hasCode(ex, "MOVED");
	}

	/**
	 * Return the exception to throw.
	 * @param ex the exception of the driver
	 * @param call the call, whose first key is that of the lock
	 */
	static RuntimeException translate(Throwable ex, ScriptCall call) {
		if (hasCode(ex, "WRONGTYPE")) {
			return new UnusableStoreException("Redis key '" + new String(call.keys()[0], StandardCharsets.UTF_8)
					+ "' or a companion of it holds something other than a lock;"
					+ " choose another distributed-lock.key-prefix or another lock name", ex);
		}
		// Redis 7.0 has no error code for a command that a script may not run
		if (hasCode(ex, "NOPERM") || hasCode(ex, "The user executing the script")) {
			String list = call.script().isOfRedlock() ? "'Redlock' in docs/stores.md"
					: "'What Redis has to allow' in docs/guarantees.md";
			return new UnusableStoreException(
					"The Redis user lacks a permission that the locks need; see " + list + " of this library", ex);
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
