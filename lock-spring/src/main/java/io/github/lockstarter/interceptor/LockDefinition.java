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
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.TransactionFencing;

/**
 * The lock or locks of a method, checked as far as possible without a call.
 *
 * @param locks the locks
 * @param onFailure the reaction if the lock cannot be acquired
 * @param onLost the reaction to the loss of the lock
 * @param onActiveTransaction the reaction to an active transaction
 * @param transactionFencing whether transactions claim the fencing token
 * @param persistenceContext the reaction to an open persistence context
 * @param leaseParameter the parameter that receives the lease
 * @param adapter runs the method until its work is complete
 */
record LockDefinition(List<KeyedRequest> locks, FailurePolicy onFailure, OnLost onLost,
		OnActiveTransaction onActiveTransaction, TransactionFencing transactionFencing,
		OnPersistenceContext persistenceContext, LeaseParameter leaseParameter, InvocationAdapter adapter) {

	/**
	 * Return the request of a call.
	 * @throws IllegalArgumentException if the call has no usable key, too many keys, or
	 * several keys for a method with a parameter of type {@code Lease}
	 */
	AnyLockRequest<?> request(MethodInvocation invocation) {
		AnyLockRequest<?> request = (this.locks.size() == 1) ? this.locks.get(0).resolve(invocation)
				: allOf(invocation);
		if (request instanceof LockSetRequest && this.leaseParameter.single()) {
			throw new IllegalArgumentException(
					"The key of @DistributedLock on '" + MethodLabel.of(invocation.getMethod())
							+ "' is a collection, which needs a LeaseSet, but the method has a parameter of type Lease;"
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
