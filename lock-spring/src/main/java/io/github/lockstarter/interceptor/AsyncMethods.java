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
 * What {@link Async} means for a lock inside it: the call is on a thread of its executor
 * already, which may block, and its body belongs there.
 */
final class AsyncMethods {

	private AsyncMethods() {
	}

	/**
	 * Return whether the call was handed over to an executor before it came to the lock.
	 * @param lock the advice that takes the lock
	 */
	static boolean isHandedOver(MethodInvocation invocation, Class<?> targetClass, Advice lock) {
		if (invocation instanceof ProxyMethodInvocation proxied) {
			return proxied.getProxy() instanceof Advised advised && isInside(advised, invocation, targetClass, lock);
		}
		// What is woven has no list of advice, but Spring weaves it outside the lock
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
