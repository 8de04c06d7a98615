// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;

import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockUnavailableException;

/**
 * A call of a method that needs a lock.
 *
 * @param invocation the call
 * @param leaseParameter the parameter that receives the lease
 * @param onFailure the reaction if the lock cannot be acquired
 */
record LockedCall(MethodInvocation invocation, LeaseParameter leaseParameter, FailurePolicy onFailure) {

	/**
	 * Return an independent copy, for a call that runs later or more than once.
	 */
	LockedCall copy() {
		MethodInvocation copy = this.invocation;
		if (copy instanceof ProxyMethodInvocation proxied) {
			copy = proxied.invocableClone();
		}
		else if (copy instanceof RepeatableInvocation repeatable) {
			copy = repeatable.copy();
		}
		return new LockedCall(copy, this.leaseParameter, this.onFailure);
	}

	@Nullable Object proceed(LeaseSet lease) throws Throwable {
		fillIn(lease);
		return this.invocation.proceed();
	}

	/**
	 * Return the result of a call whose lock was held by another owner for the whole wait
	 * time.
	 */
	@Nullable Object contended(LockContendedException reason) throws Throwable {
		fillIn(null);
		return this.onFailure.contended(this.invocation, reason);
	}

	/**
	 * Return the result of a call whose store did not answer.
	 */
	@Nullable Object unavailable(LockUnavailableException reason) throws Throwable {
		fillIn(null);
		return this.onFailure.unavailable(this.invocation, reason);
	}

	private void fillIn(@Nullable LeaseSet lease) {
		this.leaseParameter.fillIn(lease, this.invocation.getArguments());
	}

}
