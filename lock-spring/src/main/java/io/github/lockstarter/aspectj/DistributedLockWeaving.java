// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.aspectj;

import java.util.function.Function;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.interceptor.DistributedLockInterceptor;
import io.github.lockstarter.interceptor.LockDefinitionSource;

/**
 * Connects the {@link DistributedLockAspect} with an open application context, before any
 * bean is created. Woven methods then either acquire their locks or leave locking to
 * proxies. If several contexts are open, the newest one provides the locks. All of them
 * must use the same mode.
 */
public final class DistributedLockWeaving implements BeanFactoryPostProcessor, DisposableBean {

	private final @Nullable DistributedLockInterceptor interceptor;

	private DistributedLockWeaving(@Nullable DistributedLockInterceptor interceptor) {
		this.interceptor = interceptor;
	}

	/**
	 * Create a connection that lets woven methods acquire their locks.
	 * @param definitions provides the locks of methods
	 * @param registries provides the registry of a method at its first call, by its name
	 * or qualifier, which is empty for the default one
	 */
	public static DistributedLockWeaving locking(LockDefinitionSource definitions,
			Function<String, LockRegistry> registries) {
		return new DistributedLockWeaving(new DistributedLockInterceptor(definitions, registries));
	}

	/**
	 * Create a connection that leaves locking to proxies.
	 */
	public static DistributedLockWeaving standingAside() {
		return new DistributedLockWeaving(null);
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		DistributedLockAspect.aspectOf().enter(this);
	}

	@Override
	public void destroy() {
		DistributedLockAspect.aspectOf().leave(this);
	}

	boolean isLocking() {
		return this.interceptor != null;
	}

	@Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		MethodInterceptor locking = this.interceptor;
		return (locking != null) ? locking.invoke(invocation) : invocation.proceed();
	}

}
