// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;

/**
 * Runs a method under its lock.
 */
final class DistributedLockInterceptor implements MethodInterceptor {

	private final LockDefinitionSource definitions;

	private final Supplier<LockRegistry> registry;

	private volatile OnActiveTransaction onActiveTransaction = OnActiveTransaction.DEFER;

	DistributedLockInterceptor(LockDefinitionSource definitions, Supplier<LockRegistry> registry) {
		this.definitions = definitions;
		this.registry = SingletonSupplier.of(registry);
	}

	void setOnActiveTransaction(OnActiveTransaction onActiveTransaction) {
		this.onActiveTransaction = onActiveTransaction;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? ClassUtils.getUserClass(target)
				: invocation.getMethod().getDeclaringClass();
		LockDefinition definition = this.definitions.get(invocation.getMethod(), targetClass);
		if (definition == null) {
			return invocation.proceed();
		}
		InvocationAdapter adapter = definition.adapter();
		if (adapter != null) {
			return adapter
				.invoke(new LockedCall(invocation, definition, definition.request(invocation), this.registry.get(),
						template(definition), AsyncMethods.isHandedOver(invocation, targetClass, this)));
		}
		FailurePolicy onFailure = definition.onFailure();
		return template(definition).executeOrElse(definition.request(invocation), (lease) -> {
			fillIn(lease, invocation, definition);
			return invocation.proceed();
		}, (contention) -> {
			fillIn(null, invocation, definition);
			return onFailure.contended(invocation, contention);
		}, (outage) -> {
			fillIn(null, invocation, definition);
			return onFailure.unavailable(invocation, outage);
		});
	}

	private LockTemplate template(LockDefinition definition) {
		OnActiveTransaction onActiveTransaction = definition.onActiveTransaction();
		return new LockTemplate(this.registry.get()).withOnLost(definition.onLost())
			.withOnActiveTransaction((onActiveTransaction != OnActiveTransaction.DEFAULT) ? onActiveTransaction
					: this.onActiveTransaction);
	}

	static void fillIn(@Nullable LeaseSet lease, MethodInvocation invocation, LockDefinition definition) {
		definition.leaseParameter().fillIn(lease, invocation.getArguments());
	}

}
