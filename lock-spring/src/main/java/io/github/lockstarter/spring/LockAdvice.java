// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.util.function.Supplier;

import org.springframework.context.annotation.AdviceMode;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.aspectj.DistributedLockWeaving;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;

/**
 * How the annotated methods of an application acquire their locks.
 *
 * @param mode whether proxies or woven methods do so
 * @param order position among the advisors of a method
 * @param onActiveTransaction the default of
 * {@link io.github.lockstarter.DistributedLock#onActiveTransaction()}
 * @param persistenceContext the default of
 * {@link io.github.lockstarter.DistributedLock#persistenceContext()}
 */
public record LockAdvice(AdviceMode mode, int order, OnActiveTransaction onActiveTransaction,
		OnPersistenceContext persistenceContext) {

	/**
	 * Return the advisor for proxies.
	 * @param definitions provides the locks of methods
	 * @param registry provides the registry at the first call
	 */
	public DistributedLockAdvisor advisor(LockDefinitionSource definitions, Supplier<LockRegistry> registry) {
		DistributedLockAdvisor advisor = new DistributedLockAdvisor(definitions, registry);
		advisor.setOrder(this.order);
		advisor.setOnActiveTransaction(this.onActiveTransaction);
		advisor.setPersistenceContext(this.persistenceContext);
		return advisor;
	}

	/**
	 * Return the connection between woven methods and the application context.
	 * @param definitions provides the locks of methods
	 * @param registry provides the registry at the first call
	 */
	DistributedLockWeaving weaving(LockDefinitionSource definitions, Supplier<LockRegistry> registry) {
		return DistributedLockWeaving.locking(definitions, registry, this.onActiveTransaction, this.persistenceContext);
	}

}
