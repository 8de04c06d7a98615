// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;

/**
 * Runs a method under its lock. Proxies call it through the
 * {@link DistributedLockAdvisor}, woven methods through the aspect.
 */
public final class DistributedLockInterceptor implements MethodInterceptor {

	private final LockDefinitionSource definitions;

	private final Function<String, LockRegistry> registries;

	private final Map<MethodClassKey, Optional<LockedMethod>> methods = new ConcurrentHashMap<>();

	/**
	 * Create an interceptor.
	 * @param definitions provides the locks of methods
	 * @param registries provides the registry of a method at its first call, by its name
	 * or qualifier, which is empty for the default one
	 */
	public DistributedLockInterceptor(LockDefinitionSource definitions, Function<String, LockRegistry> registries) {
		this.definitions = definitions;
		this.registries = registries;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? ClassUtils.getUserClass(target)
				: invocation.getMethod().getDeclaringClass();
		LockedMethod method = lockedMethod(invocation.getMethod(), targetClass);
		return (method != null) ? method.operation().invoke(invocation, method.template(), method.registry())
				: invocation.proceed();
	}

	private @Nullable LockedMethod lockedMethod(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<LockedMethod> known = this.methods.get(key);
		if (known == null) {
			Optional<LockedMethod> created = Optional.ofNullable(create(method, targetClass));
			// The template of the first call remembers what has been warned of
			Optional<LockedMethod> first = this.methods.putIfAbsent(key, created);
			known = (first != null) ? first : created;
		}
		return known.orElse(null);
	}

	private @Nullable LockedMethod create(Method method, Class<?> targetClass) {
		LockOperation operation = this.definitions.parse(method, targetClass);
		if (operation == null) {
			return null;
		}
		LockRegistry registry = this.registries.apply(operation.registry());
		return new LockedMethod(operation, operation.template(new LockTemplate(registry)), registry);
	}

	private record LockedMethod(LockOperation operation, LockTemplate template, LockRegistry registry) {
	}

}
