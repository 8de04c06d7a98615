// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.util.function.Supplier;

import org.springframework.context.annotation.AdviceMode;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.BodyAwareLockRegistry;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.aspectj.DistributedLockWeaving;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

/**
 * How locks are acquired in an application.
 *
 * @param mode whether proxies or woven methods acquire the locks of annotated methods
 * @param order position among the advisors of a method
 * @param onActiveTransaction the reaction to a transaction that is already active
 * @param onPersistenceContext the reaction to an open persistence context
 */
public record LockAdvice(AdviceMode mode, int order, OnActiveTransaction onActiveTransaction,
		OnPersistenceContext onPersistenceContext) {

	private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronization", LockAdvice.class.getClassLoader());

	/**
	 * Return the advisor for proxies.
	 * @param definitions provides the locks of methods
	 * @param registry provides the registry at the first call
	 */
	public DistributedLockAdvisor advisor(LockDefinitionSource definitions, Supplier<LockRegistry> registry) {
		DistributedLockAdvisor advisor = new DistributedLockAdvisor(definitions, () -> aware(registry.get()));
		advisor.setOrder(this.order);
		return advisor;
	}

	/**
	 * Return the connection between woven methods and the application context.
	 * @param definitions provides the locks of methods
	 * @param registry provides the registry at the first call
	 */
	DistributedLockWeaving weaving(LockDefinitionSource definitions, Supplier<LockRegistry> registry) {
		return DistributedLockWeaving.locking(definitions, () -> aware(registry.get()));
	}

	/**
	 * Return the template for the application.
	 * @param registry acquires the locks
	 */
	public LockTemplate template(LockRegistry registry) {
		return new LockTemplate(aware(registry));
	}

	/**
	 * Bodies respect transactions even if the application has a registry of its own.
	 */
	private LockRegistry aware(LockRegistry registry) {
		return (!TRANSACTIONS_PRESENT || registry instanceof BodyAwareLockRegistry) ? registry
				: new TransactionAwareLockRegistry(registry, this.onActiveTransaction, this.onPersistenceContext,
						LockListener.NO_OP);
	}

}
