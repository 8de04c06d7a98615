// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.aspectj;

import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.interceptor.DistributedLockInterceptor;
import io.github.lockstarter.interceptor.LockDefinitionSource;

/**
 * Tells {@link DistributedLockAspect} what woven methods have to do while an application
 * context is open: take the lock, or stand aside because proxies take it. It does so
 * before any bean is created. Of several open contexts the newest one gives the locks;
 * they must not disagree about who takes them.
 */
public final class DistributedLockWeaving implements BeanFactoryPostProcessor, DisposableBean {

	private final @Nullable DistributedLockInterceptor interceptor;

	private DistributedLockWeaving(@Nullable DistributedLockInterceptor interceptor) {
		this.interceptor = interceptor;
	}

	/**
	 * Return what has woven methods take their locks.
	 * @param definitions the locks of the methods
	 * @param registry where the locks come from, asked at the first call
	 * @param onActiveTransaction what annotations mean that leave it at its default
	 */
	public static DistributedLockWeaving locking(LockDefinitionSource definitions, Supplier<LockRegistry> registry,
			OnActiveTransaction onActiveTransaction) {
		DistributedLockInterceptor interceptor = new DistributedLockInterceptor(definitions, registry);
		interceptor.setOnActiveTransaction(onActiveTransaction);
		return new DistributedLockWeaving(interceptor);
	}

	/**
	 * Return what has woven methods run as if they were not.
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
