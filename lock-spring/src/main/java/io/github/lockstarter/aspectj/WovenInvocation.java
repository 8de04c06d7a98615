// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.aspectj;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInvocation;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;

/**
 * Presents the execution of a woven method to interceptors like a call through a proxy.
 */
final class WovenInvocation implements MethodInvocation {

	private final ProceedingJoinPoint joinPoint;

	private final @Nullable Object[] arguments;

	WovenInvocation(ProceedingJoinPoint joinPoint) {
		this.joinPoint = joinPoint;
		this.arguments = joinPoint.getArgs();
	}

	@Override
	public Method getMethod() {
		return ((MethodSignature) this.joinPoint.getSignature()).getMethod();
	}

	@Override
	public @Nullable Object[] getArguments() {
		return this.arguments;
	}

	@Override
	public @Nullable Object proceed() throws Throwable {
		return this.joinPoint.proceed(this.arguments);
	}

	@Override
	public @Nullable Object getThis() {
		return this.joinPoint.getThis();
	}

	@Override
	public AccessibleObject getStaticPart() {
		return getMethod();
	}

}
