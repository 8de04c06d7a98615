// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnUnavailable;

/**
 * What a call does if its lock cannot be acquired.
 *
 * @param onContention what to do on contention if there is no fallback
 * @param onUnavailable what to do if the store does not answer
 * @param fallback the method to call instead, or {@code null}
 * @param empty the result of a call that was skipped
 */
record FailurePolicy(OnContention onContention, OnUnavailable onUnavailable, @Nullable FallbackMethod fallback,
		@Nullable Object empty) {

	/**
	 * Return the result of a call whose lock was held elsewhere for the whole wait time.
	 */
	@Nullable Object contended(MethodInvocation invocation, LockContendedException reason) throws Throwable {
		if (this.fallback != null) {
			return this.fallback.invoke(invocation, reason);
		}
		if (this.onContention == OnContention.SKIP) {
			return this.empty;
		}
		throw reason;
	}

	/**
	 * Return the result of a call whose store did not answer.
	 */
	@Nullable Object unavailable(MethodInvocation invocation, LockUnavailableException reason) throws Throwable {
		if (this.fallback != null && this.onUnavailable == OnUnavailable.FALLBACK) {
			return this.fallback.invoke(invocation, reason);
		}
		throw reason;
	}

}
