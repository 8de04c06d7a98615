// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * One run of a body on the current thread: the lock is held until the body has returned,
 * or until the transaction of the thread is completed.
 *
 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
 * @param outcome the outcome of the acquisition
 * @param untilCompletion whether the completion of the transaction releases the lock
 */
record ThreadExecution<L extends LeaseSet>(LockOutcome<L> outcome, boolean untilCompletion) {

	<T extends @Nullable Object, X extends Throwable> T run(LockedBody<L, T, X> body,
			ContentionHandler<T, X> onContention, OutageHandler<T, X> onOutage) throws X {
		return this.outcome.choose((lease) -> runUnder(lease, body), onContention, onOutage);
	}

	private <T extends @Nullable Object, X extends Throwable> T runUnder(L lease, LockedBody<L, T, X> body) throws X {
		LeaseScope scope = this.outcome.enter(lease);
		if (this.untilCompletion) {
			TransactionBoundary.endAfterCompletion(scope);
		}
		T result;
		try {
			if (this.untilCompletion) {
				TransactionBoundary.acquired();
			}
			result = this.outcome.call(body, lease);
		}
		catch (Throwable ex) {
			throw LockOutcome.<X>unchecked(Objects.requireNonNull(leave(lease, scope, ex)));
		}
		Throwable failure = leave(lease, scope, null);
		if (failure != null) {
			throw LockOutcome.<X>unchecked(failure);
		}
		return result;
	}

	private @Nullable Throwable leave(L lease, LeaseScope scope, @Nullable Throwable failure) {
		try {
			release(lease, scope, failure == null);
			return this.outcome.cause(failure, null);
		}
		catch (RuntimeException ex) {
			return this.outcome.cause(failure, ex);
		}
	}

	private void release(L lease, LeaseScope scope, boolean successful) {
		try {
			this.outcome.keep(lease, successful);
		}
		finally {
			if (this.untilCompletion) {
				scope.leave();
			}
			else {
				// The scope ends first, because listeners may run transactions of their
				// own at the release
				scope.close();
				lease.close();
			}
		}
	}

}
