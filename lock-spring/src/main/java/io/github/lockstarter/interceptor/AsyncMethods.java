// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;

/**
 * Recognizes calls that {@link Async} has submitted to an executor before they reach the
 * lock. Such a call must run on its thread of that executor, and may block it.
 */
final class AsyncMethods {

	private AsyncMethods() {
	}

	/**
	 * Return whether an executor runs the call on one of its threads.
	 * @param lock the advice that acquires the lock
	 */
	static boolean isHandedOver(MethodInvocation invocation, Class<?> targetClass, Advice lock) {
		if (invocation instanceof ProxyMethodInvocation proxied) {
			return proxied.getProxy() instanceof Advised advised && isInside(advised, invocation, targetClass, lock);
		}
		// A woven method has no list of advice, but Spring weaves @Async outside the lock
		return AnnotatedElementUtils.hasAnnotation(invocation.getMethod(), Async.class)
				|| AnnotatedElementUtils.hasAnnotation(targetClass, Async.class);
	}

	private static boolean isInside(Advised advised, MethodInvocation invocation, Class<?> targetClass, Advice lock) {
		for (Advisor advisor : advised.getAdvisors()) {
			if (advisor.getAdvice() == lock) {
				return false;
			}
			if (advisor.getAdvice() instanceof AsyncExecutionInterceptor && isFor(advisor, invocation, targetClass)) {
				return true;
			}
		}
		return false;
	}

	private static boolean isFor(Advisor advisor, MethodInvocation invocation, Class<?> targetClass) {
		Pointcut pointcut = (advisor instanceof PointcutAdvisor guarded) ? guarded.getPointcut() : Pointcut.TRUE;
		return pointcut.getClassFilter().matches(targetClass)
				&& pointcut.getMethodMatcher().matches(invocation.getMethod(), targetClass);
	}

}
