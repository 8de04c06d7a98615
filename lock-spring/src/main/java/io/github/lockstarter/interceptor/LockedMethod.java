// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;

import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;

/**
 * A method with a lock, shared by all its calls.
 *
 * @param targetClass the class of the bean
 * @param definition the lock of the method
 * @param template acquires and releases the lock
 */
record LockedMethod(Class<?> targetClass, LockDefinition definition, LockTemplate template) {

	/**
	 * Return the method with its template.
	 * @param onActiveTransaction the reaction to an active transaction, unless the
	 * definition has its own
	 * @param persistenceContext the same for an open persistence context
	 */
	static LockedMethod of(Method method, Class<?> targetClass, LockDefinition definition, LockRegistry registry,
			OnActiveTransaction onActiveTransaction, OnPersistenceContext persistenceContext) {
		return new LockedMethod(targetClass, definition,
				new LockTemplate(registry).forCaller(MethodLabel.of(method))
					.withDefaults(onActiveTransaction, persistenceContext)
					.withOnLost(definition.onLost())
					.withOnActiveTransaction(definition.onActiveTransaction())
					.withPersistenceContext(definition.persistenceContext())
					.withTransactionFencing(definition.transactionFencing()));
	}

	/**
	 * Call the method under its lock.
	 * @param lock the advice that runs the call
	 */
	@Nullable Object invoke(MethodInvocation invocation, Advice lock) throws Throwable {
		LockedCall call = new LockedCall(invocation, this.definition.leaseParameter(), this.definition.onFailure(),
				() -> AsyncMethods.isHandedOver(invocation, this.targetClass, lock));
		return this.definition.adapter().invoke(call, this.definition.request(invocation), this.template);
	}

}
