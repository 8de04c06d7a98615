// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;

/**
 * The lock or locks of one annotation.
 *
 * @param request the request for the lock of the whole name
 * @param key the expression for the keys, or {@code null} for the lock of the whole name
 */
record KeyedRequest(LockRequest request, @Nullable LockKeyExpression key) {

	/**
	 * Return whether the declared type of the key says that calls have several keys.
	 */
	boolean isForSeveralKeys() {
		return this.key != null && this.key.hasSeveralValues();
	}

	/**
	 * Return the request of a call: for one lock, or for several if the key is a
	 * collection, even with a single element.
	 * @throws IllegalArgumentException if the call has no usable key or too many keys
	 */
	AnyLockRequest<?> resolve(MethodInvocation invocation) {
		if (this.key == null) {
			return this.request;
		}
		Object target = invocation.getThis();
		if (target == null) {
			throw new IllegalStateException(
					"'" + MethodLabel.of(invocation.getMethod()) + "' is called without an instance");
		}
		LockKeyExpression.Keys keys = this.key.evaluate(this.request.key().name(), target, invocation.getArguments());
		return keys.several() ? LockSetRequest.of(keys.all().stream().map(this.request::withKey).toList())
				: this.request.withKey(keys.all().get(0));
	}

}
