// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

/**
 * A broken promise that no slow machine explains: two owners at once, a fencing token
 * that is not larger, a lost update, or a body without its lock. Other assertions of a
 * test on the real clock may fail because the machine stood still, so a build may repeat
 * such a test; after this error it must not.
 */
public class SafetyViolation extends AssertionError {

	/**
	 * Create a violation.
	 * @param message what happened, with the lock and its owners
	 */
	public SafetyViolation(String message) {
		super(message);
	}

	/**
	 * Check a condition that holds on a machine of any speed.
	 * @param safe whether the promise is kept
	 * @param message what happened otherwise, as for {@link String#format}
	 * @param arguments the arguments of the message
	 * @throws SafetyViolation if the promise is broken
	 */
	public static void check(boolean safe, String message, Object... arguments) {
		if (!safe) {
			throw new SafetyViolation(message.formatted(arguments));
		}
	}

}
