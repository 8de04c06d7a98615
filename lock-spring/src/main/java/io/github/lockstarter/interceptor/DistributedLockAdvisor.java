// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.function.Supplier;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.OnActiveTransaction;

/**
 * Puts the lock around each method that is annotated with {@link DistributedLock},
 * outside of its transaction.
 */
public final class DistributedLockAdvisor extends AbstractPointcutAdvisor {

	/**
	 * Place among the advisors of a method. Transactions, caches and other advice without
	 * an order of its own have the lowest precedence, and so are inside of the lock: it
	 * is given back after the commit. {@code @Retryable} and {@code @Async} of Spring put
	 * themselves outside: each try takes the lock anew, on the thread that runs it.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1000;

	private final Pointcut pointcut;

	private final DistributedLockInterceptor advice;

	/**
	 * Create an advisor with the {@linkplain #DEFAULT_ORDER default order}.
	 * @param definitions the locks of the methods
	 * @param registry where the locks come from, asked at the first call
	 */
	public DistributedLockAdvisor(LockDefinitionSource definitions, Supplier<LockRegistry> registry) {
		this.pointcut = new LockedMethods(definitions);
		this.advice = new DistributedLockInterceptor(definitions, registry);
		setOrder(DEFAULT_ORDER);
	}

	/**
	 * Set what annotations mean that leave {@link DistributedLock#onActiveTransaction()}
	 * at its default.
	 * @param onActiveTransaction the reaction to a transaction that is active already
	 */
	public void setOnActiveTransaction(OnActiveTransaction onActiveTransaction) {
		this.advice.setOnActiveTransaction(onActiveTransaction);
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
