// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.function.Function;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRegistry;

/**
 * Acquires the lock around each method that is annotated with {@link DistributedLock},
 * and outside its transaction.
 */
public final class DistributedLockAdvisor extends AbstractPointcutAdvisor {

	/**
	 * Position among the advisors of a method. Transactions, caches and other advice
	 * without an order of its own have the lowest precedence and run inside the lock, so
	 * the lock is released after the commit. {@code @Retryable} and {@code @Async} of
	 * Spring run outside the lock: each attempt acquires it again, on the thread that
	 * makes the attempt. Method security is outside as well, so a caller without the
	 * authority does not wait for the lock. For {@code @EnableCaching(order = …)}, a
	 * lower value places caches outside the lock.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1000;

	private final Pointcut pointcut;

	private final DistributedLockInterceptor advice;

	/**
	 * Create an advisor with the {@linkplain #DEFAULT_ORDER default order}.
	 * @param definitions provides the locks of methods
	 * @param registries provides the registry of a method at its first call, by its name
	 * or qualifier, which is empty for the default one
	 */
	public DistributedLockAdvisor(LockDefinitionSource definitions, Function<String, LockRegistry> registries) {
		this.pointcut = new LockedMethods(definitions);
		this.advice = new DistributedLockInterceptor(definitions, registries);
		setOrder(DEFAULT_ORDER);
	}

	@Override
	public Pointcut getPointcut() {
		return this.pointcut;
	}

	@Override
	public Advice getAdvice() {
		return this.advice;
	}

	private static final class LockedMethods extends StaticMethodMatcherPointcut {

		private final LockDefinitionSource definitions;

		LockedMethods(LockDefinitionSource definitions) {
			this.definitions = definitions;
			setClassFilter((type) -> AnnotationUtils.isCandidateClass(type, DistributedLock.class));
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return this.definitions.hasLock(method, targetClass);
		}

	}

}
