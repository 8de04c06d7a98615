// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnUnavailable;

/**
 * What a method does when its lock cannot be had.
 *
 * @param onContention what to do on contention, if there is no fallback
 * @param onUnavailable what to do when the lock cannot be asked for
 * @param fallback what to call instead, or {@code null}
 * @param empty what a call returns that was skipped
 */
record FailurePolicy(OnContention onContention, OnUnavailable onUnavailable, @Nullable FallbackMethod fallback,
		@Nullable Object empty) {

	/**
	 * Return what a call returns when somebody else held the lock for the whole wait
	 * time.
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
	 * Return what a call returns when the lock could not be asked for.
	 */
	@Nullable Object unavailable(MethodInvocation invocation, LockUnavailableException reason) throws Throwable {
		if (this.fallback != null && this.onUnavailable == OnUnavailable.FALLBACK) {
			return this.fallback.invoke(invocation, reason);
		}
		throw reason;
	}

}
