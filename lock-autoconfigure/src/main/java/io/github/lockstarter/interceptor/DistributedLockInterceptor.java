// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnContention;

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
		LockRequest request = definition.request(invocation);
		LockTemplate template = template(definition);
		if (definition.fallback() == null && definition.onContention() == OnContention.THROW) {
			return template.execute(request, (lease) -> proceed(invocation, definition, lease));
		}
		return template.executeOrElse(request, (lease) -> proceed(invocation, definition, lease),
				(contention) -> insteadOf(invocation, definition));
	}

	private LockTemplate template(LockDefinition definition) {
		OnActiveTransaction onActiveTransaction = definition.onActiveTransaction();
		return new LockTemplate(this.registry.get()).withOnLost(definition.onLost())
			.withOnActiveTransaction((onActiveTransaction != OnActiveTransaction.DEFAULT) ? onActiveTransaction
					: this.onActiveTransaction);
	}

	private static @Nullable Object proceed(MethodInvocation invocation, LockDefinition definition, Lease lease)
			throws Throwable {
		if (definition.leaseParameter() >= 0) {
			invocation.getArguments()[definition.leaseParameter()] = lease;
		}
		return invocation.proceed();
	}

	private static @Nullable Object insteadOf(MethodInvocation invocation, LockDefinition definition) throws Throwable {
		Method fallback = definition.fallback();
		if (fallback == null) {
			return definition.empty();
		}
		return AopUtils.invokeJoinpointUsingReflection(invocation.getThis(), fallback, invocation.getArguments());
	}

}
