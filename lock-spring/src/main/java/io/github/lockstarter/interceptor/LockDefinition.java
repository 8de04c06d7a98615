// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.ArrayList;
import java.util.List;

import org.aopalliance.intercept.MethodInvocation;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;

/**
 * The lock or locks of a method. Everything that is known before a call has been checked.
 *
 * @param locks the locks
 * @param onFailure what to do if the lock cannot be acquired
 * @param onLost what to do if the lock is lost
 * @param onActiveTransaction what to do inside a transaction
 * @param leaseParameter the parameter that takes the lease
 * @param adapter runs the method until its work is done
 */
record LockDefinition(List<KeyedRequest> locks, FailurePolicy onFailure, OnLost onLost,
		OnActiveTransaction onActiveTransaction, LeaseParameter leaseParameter, InvocationAdapter adapter) {

	/**
	 * Return the request of a call.
	 * @throws IllegalArgumentException if the call has no usable key, too many, or
	 * several for a method that takes the lease of one lock
	 */
	AnyLockRequest<?> request(MethodInvocation invocation) {
		AnyLockRequest<?> request = (this.locks.size() == 1) ? this.locks.get(0).resolve(invocation)
				: allOf(invocation);
		if (request instanceof LockSetRequest && this.leaseParameter.single()) {
			throw new IllegalArgumentException("The key of @DistributedLock on '"
					+ MethodLabel.of(invocation.getMethod())
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

}
