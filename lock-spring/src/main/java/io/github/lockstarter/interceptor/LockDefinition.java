// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.ArrayList;
import java.util.List;

import org.aopalliance.intercept.MethodInvocation;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;

/**
 * The lock or locks of a method. Everything that is known before a call has been checked.
 *
 * @param locks the locks
 * @param onFailure what to do if the lock cannot be acquired
 * @param onLost what to do if the lock is lost
 * @param onActiveTransaction what to do inside a transaction
 * @param leaseParameter index of the parameter that takes the lease, or -1
 * @param adapter runs the method until its work is done
 */
record LockDefinition(List<KeyedRequest> locks, FailurePolicy onFailure, OnLost onLost,
		OnActiveTransaction onActiveTransaction, int leaseParameter, InvocationAdapter adapter) {

	/**
	 * Return the request of a call.
	 * @throws IllegalArgumentException if the call has no usable key, or too many
	 */
	LockRequest request(MethodInvocation invocation) {
		List<LockRequest> requests = this.locks.get(0).resolve(invocation);
		if (requests.size() == 1 && this.locks.size() == 1) {
			return requests.get(0);
		}
		List<LockRequest> all = new ArrayList<>(requests);
		this.locks.subList(1, this.locks.size()).forEach((lock) -> all.addAll(lock.resolve(invocation)));
		return all.get(0).and(all.subList(1, all.size()));
	}

}
