// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.List;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockRequest;

/**
 * The lock or locks of one annotation.
 *
 * @param request the request for the lock of the whole name
 * @param key the expression for the keys, or {@code null} for the lock of the whole name
 */
record KeyedRequest(LockRequest request, @Nullable LockKeyExpression key) {

	/**
	 * Return the requests of a call, one for each key.
	 * @throws IllegalArgumentException if the call has no usable key
	 */
	List<LockRequest> resolve(MethodInvocation invocation) {
		if (this.key == null) {
			return List.of(this.request);
		}
		Object target = invocation.getThis();
		if (target == null) {
			throw new IllegalStateException("'" + MethodLabel.of(invocation.getMethod()) + "' is called on no object");
		}
		return this.key.evaluate(this.request.key().name(), target, invocation.getArguments())
			.stream()
			.map(this.request::withKey)
			.toList();
	}

}
