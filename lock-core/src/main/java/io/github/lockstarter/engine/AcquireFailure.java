// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.FailureReason;

/**
 * The reason why a waiter does not acquire the lock.
 *
 * @param reason what happened
 * @param cause the exception for the waiter, or the failure of the last request to the
 * store
 * @param refusal what is known about the owner that holds the lock
 */
record AcquireFailure(Reason reason, @Nullable RuntimeException cause,
		AcquireResult.Refusal refusal) implements Waiter.Outcome {

	static final AcquireResult.Refusal NOTHING_KNOWN = new AcquireResult.Refusal(null, null);

	static final AcquireFailure LEFT = new AcquireFailure(Reason.LEFT, null);

	static final AcquireFailure REFUSED = new AcquireFailure(Reason.REFUSED, null);

	private AcquireFailure(Reason reason, @Nullable RuntimeException cause) {
		this(reason, cause, NOTHING_KNOWN);
	}

	static AcquireFailure contended(AcquireResult.Refusal refusal) {
		return new AcquireFailure(Reason.CONTENDED, null, refusal);
	}

	static AcquireFailure unavailable(RuntimeException cause) {
		return new AcquireFailure(Reason.UNAVAILABLE, cause);
	}

	static AcquireFailure late(RuntimeException cause) {
		return new AcquireFailure(Reason.LATE, cause);
	}

	static AcquireFailure misuse(RuntimeException cause) {
		return new AcquireFailure(Reason.MISUSE, cause);
	}

	static boolean isContention(Waiter.@Nullable Outcome outcome) {
		return outcome instanceof AcquireFailure failure && failure.reason == Reason.CONTENDED;
	}

	/**
	 * Return the instance that holds the lock, or {@code null} if it is not known.
	 */
	static @Nullable String holder(Waiter.@Nullable Outcome outcome) {
		return (outcome instanceof AcquireFailure failure) ? failure.refusal.holder() : null;
	}

	/**
	 * Return the exception for the waiter.
	 * @param outages noted there if the store could not be asked
	 */
	RuntimeException exception(LockKey key, Waiter waiter, OutageLog outages) {
		RuntimeException cause = (this.cause != null) ? this.cause : new IllegalStateException();
		return switch (this.reason) {
			case CONTENDED -> contention(key, waiter);
			case UNAVAILABLE -> {
				outages.failed(key, cause);
				String address = outages.address();
				yield new LockUnavailableException(key, "the store could not be asked ("
						+ (address.isEmpty() ? "" : address + ": ") + FailureReason.of(cause) + ")", cause);
			}
			case LATE -> new LockUnavailableException(key, FailureReason.of(cause), null);
			case REFUSED -> new LockUnavailableException(key, "its registry is shutting down", null);
			case LEFT -> new LockInterruptedException(key);
			case MISUSE -> cause;
		};
	}

	/**
	 * Return the exception for a waiter that did not acquire a contended lock.
	 */
	static LockContendedException contention(LockKey key, Waiter waiter) {
		Duration remaining = (waiter.outcome() instanceof AcquireFailure failure) ? failure.refusal.remaining() : null;
		return new LockContendedException(key, waiter.waited(), holder(waiter.outcome()), remaining);
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
		 * The owner shares the lock and requests it exclusively, the store cannot keep
		 * it, or the waiter could not wait.
		 */
		MISUSE

	}

}
