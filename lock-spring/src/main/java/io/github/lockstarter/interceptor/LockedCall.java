// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockUnavailableException;

/**
 * A call of a method that can be carried out later, on any thread, and more than once.
 *
 * @param invocation the call
 * @param definition the lock of the method
 * @param request what to ask for
 * @param registry where the lock comes from
 * @param template the semantics of the annotation
 * @param handedOver whether the current thread is one of an executor that the call was
 * handed over to
 */
record LockedCall(MethodInvocation invocation, LockDefinition definition, AnyLockRequest<?> request,
		LockRegistry registry, LockTemplate template, boolean handedOver) {

	/**
	 * Call the method.
	 */
	@Nullable Object proceed(LeaseSet lease) throws Throwable {
		return copy(lease).proceed();
	}

	/**
	 * Return what a call returns when somebody else held the lock for the whole wait
	 * time.
	 */
	@Nullable Object contended(LockContendedException reason) throws Throwable {
		return this.definition.onFailure().contended(copy(null), reason);
	}

	/**
	 * Return what a call returns when the lock could not be asked for.
	 */
	@Nullable Object unavailable(LockUnavailableException reason) throws Throwable {
		return this.definition.onFailure().unavailable(copy(null), reason);
	}

	private MethodInvocation copy(@Nullable LeaseSet lease) {
		MethodInvocation copy = this.invocation;
		if (copy instanceof ProxyMethodInvocation proxied) {
			copy = proxied.invocableClone();
		}
		else if (copy instanceof WovenInvocation woven) {
			copy = woven.copy();
		}
		DistributedLockInterceptor.fillIn(lease, copy, this.definition);
		return copy;
	}

}
