// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.log.LogMessage;

import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnUnavailable;

/**
 * The reaction of a call whose lock cannot be acquired.
 *
 * @param onContention the reaction to contention without a fallback
 * @param onUnavailable the reaction to a store that does not answer
 * @param fallback the method to call instead, or {@code null}
 * @param empty the result of a skipped call
 */
record FailurePolicy(OnContention onContention, OnUnavailable onUnavailable, @Nullable FallbackMethod fallback,
		@Nullable Object empty) {

	private static final Log logger = LogFactory.getLog(FailurePolicy.class);

	/**
	 * Return the result of a call whose lock was held by another owner for the whole wait
	 * time.
	 */
	@Nullable Object contended(MethodInvocation invocation, LockContendedException reason) throws Throwable {
		if (this.fallback != null) {
			return this.fallback.invoke(invocation, reason);
		}
		if (this.onContention == OnContention.SKIP) {
			logger.debug(
					LogMessage.format("Skipped '%s': %s", MethodLabel.of(invocation.getMethod()), reason.getMessage()));
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
