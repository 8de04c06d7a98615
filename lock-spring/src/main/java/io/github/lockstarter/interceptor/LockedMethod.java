// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;

/**
 * A method with a lock, shared by all its calls.
 *
 * @param definition the lock of the method
 * @param template acquires and releases the lock
 */
record LockedMethod(LockDefinition definition, LockTemplate template) {

	/**
	 * Return the method with its template.
	 * @param onActiveTransaction the reaction to an active transaction, unless the
	 * definition has its own
	 * @param persistenceContext the same for an open persistence context
	 */
	static LockedMethod of(Method method, LockDefinition definition, LockRegistry registry,
			OnActiveTransaction onActiveTransaction, OnPersistenceContext persistenceContext) {
		return new LockedMethod(definition,
				new LockTemplate(registry).forCaller(MethodLabel.of(method))
					.withDefaults(onActiveTransaction, persistenceContext)
					.withOnLost(definition.onLost())
					.withOnActiveTransaction(definition.onActiveTransaction())
					.withPersistenceContext(definition.persistenceContext())
					.withTransactionFencing(definition.transactionFencing()));
	}

	/**
	 * Call the method under its lock.
	 */
	@Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		LockedCall call = new LockedCall(invocation, this.definition.leaseParameter(), this.definition.onFailure());
		return this.definition.adapter().invoke(call, this.definition.request(invocation), this.template);
	}

}
