// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;

/**
 * The lock of a method, with everything checked that can be known before a call.
 *
 * @param request what to ask for, with the lock of the whole name
 * @param key the key within the name, or {@code null} for the lock of the whole name
 * @param onFailure what to do when the lock cannot be had
 * @param onLost what to do when the lease is lost
 * @param onActiveTransaction what to do inside a transaction
 * @param leaseParameter index of the parameter that takes the lease, or -1
 */
record LockDefinition(LockRequest request, @Nullable LockKeyExpression key, FailurePolicy onFailure, OnLost onLost,
		OnActiveTransaction onActiveTransaction, int leaseParameter) {

	/**
	 * Return what to ask for before a call.
	 * @throws IllegalArgumentException if the call has no usable key
	 */
	LockRequest request(MethodInvocation invocation) {
		if (this.key == null) {
			return this.request;
		}
		Object target = invocation.getThis();
		if (target == null) {
			throw new IllegalStateException("'" + describe(invocation.getMethod()) + "' is called on no object");
		}
		return this.request.withKey(this.key.evaluate(this.request.key().name(), target, invocation.getArguments()));
	}

	/**
	 * Return a method as text that names its class and the types of its parameters.
	 */
	static String describe(Method method) {
		StringBuilder text = new StringBuilder(ClassUtils.getQualifiedMethodName(method)).append('(');
		String separator = "";
		for (Class<?> type : method.getParameterTypes()) {
			text.append(separator).append(type.getSimpleName());
			separator = ", ";
		}
		return text.append(')').toString();
	}

}
