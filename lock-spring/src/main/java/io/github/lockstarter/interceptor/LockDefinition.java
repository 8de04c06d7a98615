// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;

/**
 * The lock or locks of a method, with everything checked that can be known before a call.
 *
 * @param locks what to ask for
 * @param onFailure what to do when the lock cannot be had
 * @param onLost what to do when the lease is lost
 * @param onActiveTransaction what to do inside a transaction
 * @param leaseParameter the parameter that takes the lease
 * @param adapter what follows the work of the method that goes on after its return, or
 * {@code null} if there is none
 */
record LockDefinition(List<KeyedRequest> locks, FailurePolicy onFailure, OnLost onLost,
		OnActiveTransaction onActiveTransaction, LeaseParameter leaseParameter, @Nullable InvocationAdapter adapter) {

	/**
	 * Return what to ask for before a call.
	 * @throws IllegalArgumentException if the call has no usable key, too many, or
	 * several for a method that takes the lease of one lock
	 */
	AnyLockRequest<?> request(MethodInvocation invocation) {
		AnyLockRequest<?> request = (this.locks.size() == 1) ? this.locks.get(0).resolve(invocation)
				: allOf(invocation);
		if (request instanceof LockSetRequest && this.leaseParameter.single()) {
			throw new IllegalArgumentException("The key of @DistributedLock on '" + describe(invocation.getMethod())
					+ "' is a collection, whose locks have a LeaseSet, but a parameter of the method is of type Lease;"
					+ " nothing was executed");
		}
		return request;
	}

	private LockSetRequest allOf(MethodInvocation invocation) {
		List<LockRequest> all = new ArrayList<>();
		this.locks.forEach((lock) -> addTo(all, lock.resolve(invocation)));
		return new LockSetRequest(all, this.locks.get(0).request().waitTime());
	}

	private static void addTo(List<LockRequest> all, AnyLockRequest<?> request) {
		if (request instanceof LockSetRequest set) {
			all.addAll(set.requests());
		}
		else {
			all.add((LockRequest) request);
		}
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
