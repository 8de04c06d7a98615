// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;

/**
 * Runs a method under its lock. {@link DistributedLockAdvisor} puts it around the methods
 * of proxies, weaving puts it into the methods themselves.
 */
public final class DistributedLockInterceptor implements MethodInterceptor {

	private final LockDefinitionSource definitions;

	private final Supplier<LockRegistry> registry;

	private volatile OnActiveTransaction onActiveTransaction = OnActiveTransaction.DEFER;

	/**
	 * Create an interceptor.
	 * @param definitions the locks of the methods
	 * @param registry where the locks come from, asked at the first call
	 */
	public DistributedLockInterceptor(LockDefinitionSource definitions, Supplier<LockRegistry> registry) {
		this.definitions = definitions;
		this.registry = SingletonSupplier.of(registry);
	}

	/**
	 * Set what annotations mean that leave {@link DistributedLock#onActiveTransaction()}
	 * at its default.
	 * @param onActiveTransaction the reaction to a transaction that is active already
	 */
	public void setOnActiveTransaction(OnActiveTransaction onActiveTransaction) {
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

	static void fillIn(@Nullable Lease lease, MethodInvocation invocation, LockDefinition definition) {
		if (definition.leaseParameter() >= 0) {
			invocation.getArguments()[definition.leaseParameter()] = lease;
		}
	}

}
