// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import org.jspecify.annotations.Nullable;

/**
 * The reason why a waiter does not acquire the lock.
 *
 * @param reason what happened
 * @param cause the exception for the waiter, or the failure of the last request to the
 * store
 */
record Denial(Reason reason, @Nullable RuntimeException cause) implements Outcome {

	static final Denial CONTENDED = new Denial(Reason.CONTENDED, null);

	static final Denial LEFT = new Denial(Reason.LEFT, null);

	static final Denial REFUSED = new Denial(Reason.REFUSED, null);

	static Denial unavailable(RuntimeException cause) {
		return new Denial(Reason.UNAVAILABLE, cause);
	}

	static Denial late(RuntimeException cause) {
		return new Denial(Reason.LATE, cause);
	}

	static Denial misuse(RuntimeException cause) {
		return new Denial(Reason.MISUSE, cause);
	}

	enum Reason {

		/** Another owner held the lock for the whole wait time. */
		CONTENDED,

		/** The store could not be asked. */
		UNAVAILABLE,

		/** The store granted the lock, but its lease was over before the answer came. */
		LATE,

		/** The registry is shutting down. */
		REFUSED,

		/** The waiter has left: it was interrupted or cancelled. */
		LEFT,

		/**
		 * The same owner has lost the lock, or shares it and requests it exclusively.
		 */
		MISUSE

	}

}
