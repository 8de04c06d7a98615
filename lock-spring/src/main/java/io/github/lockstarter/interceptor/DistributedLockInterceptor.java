// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;

/**
 * Runs a method under its lock. Proxies call it through the
 * {@link DistributedLockAdvisor}, woven methods through the aspect.
 */
public final class DistributedLockInterceptor implements MethodInterceptor {

	private final LockDefinitionSource definitions;

	private final Supplier<LockRegistry> registry;

	private final Map<MethodClassKey, LockedMethod> methods = new ConcurrentHashMap<>();

	private volatile OnActiveTransaction onActiveTransaction = OnActiveTransaction.DEFER;

	private volatile OnPersistenceContext persistenceContext = OnPersistenceContext.ISOLATE;

	/**
	 * Create an interceptor.
	 * @param definitions provides the locks of methods
	 * @param registry provides the registry at the first call
	 */
	public DistributedLockInterceptor(LockDefinitionSource definitions, Supplier<LockRegistry> registry) {
		this.definitions = definitions;
		this.registry = SingletonSupplier.of(registry);
	}

	/**
	 * Set the default of {@link DistributedLock#onActiveTransaction()}.
	 * @param onActiveTransaction the reaction to a transaction that is already active
	 */
	public void setOnActiveTransaction(OnActiveTransaction onActiveTransaction) {
		this.onActiveTransaction = onActiveTransaction;
		this.methods.clear();
	}

	/**
	 * Set the default of {@link DistributedLock#persistenceContext()}.
	 * @param persistenceContext the reaction to an open persistence context
	 */
	public void setPersistenceContext(OnPersistenceContext persistenceContext) {
		this.persistenceContext = persistenceContext;
		this.methods.clear();
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? ClassUtils.getUserClass(target)
				: invocation.getMethod().getDeclaringClass();
		LockedMethod method = lockedMethod(invocation.getMethod(), targetClass);
		return (method != null) ? method.invoke(invocation) : invocation.proceed();
	}

	private @Nullable LockedMethod lockedMethod(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		LockedMethod known = this.methods.get(key);
		if (known != null) {
			return known;
		}
		LockDefinition definition = this.definitions.get(method, targetClass);
		if (definition == null) {
			return null;
		}
		LockedMethod locked = LockedMethod.of(method, definition, this.registry.get(), this.onActiveTransaction,
				this.persistenceContext);
		// Of concurrent first calls, one warns
		LockedMethod first = this.methods.putIfAbsent(key, locked);
		return (first != null) ? first : locked;
	}

}
