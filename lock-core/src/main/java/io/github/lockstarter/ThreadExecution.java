// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * One run of a body on the current thread: the lock is held until the body has returned.
 *
 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
 * @param outcome the outcome of the acquisition
 */
record ThreadExecution<L extends LeaseSet>(LockOutcome<L> outcome) {

	<T extends @Nullable Object, X extends Throwable> T run(LockedBody<? super L, ? extends T, ? extends X> body,
			LockFailureHandler<? extends T, ? extends X> otherwise) throws X {
		return this.outcome.<T, X>choose((lease) -> runUnder(lease, body), otherwise);
	}

	private <T extends @Nullable Object, X extends Throwable> T runUnder(L lease,
			LockedBody<? super L, ? extends T, ? extends X> body) throws X {
		LeaseContext.Scope scope = LeaseContext.enter(lease);
		T result;
		try {
			result = this.outcome.<T, X>call(body, lease);
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

	private @Nullable Throwable leave(L lease, LeaseContext.Scope scope, @Nullable Throwable failure) {
		try {
			release(lease, scope, failure == null);
			return this.outcome.cause(failure, null);
		}
		catch (RuntimeException ex) {
			return this.outcome.cause(failure, ex);
		}
	}

	private void release(L lease, LeaseContext.Scope scope, boolean successful) {
		try {
			this.outcome.keep(lease, successful);
		}
		finally {
			// The scope ends first, because listeners may run bodies of their own at the
			// release
			scope.close();
			lease.close();
		}
	}

}
