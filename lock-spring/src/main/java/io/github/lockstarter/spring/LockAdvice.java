// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.util.function.Supplier;

import org.springframework.context.annotation.AdviceMode;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.aspectj.DistributedLockWeaving;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;

/**
 * How annotated methods of an application are locked.
 *
 * @param mode whether by proxies or by weaving
 * @param order place among the advisors of a method
 * @param onActiveTransaction what annotations mean that leave it at its default
 */
public record LockAdvice(AdviceMode mode, int order, OnActiveTransaction onActiveTransaction) {

	/**
	 * Return what puts locks around the methods of proxies.
	 * @param definitions the locks of the methods
	 * @param registry where the locks come from, asked at the first call
	 */
	public DistributedLockAdvisor advisor(LockDefinitionSource definitions, Supplier<LockRegistry> registry) {
		DistributedLockAdvisor advisor = new DistributedLockAdvisor(definitions, registry);
		advisor.setOrder(this.order);
		advisor.setOnActiveTransaction(this.onActiveTransaction);
		return advisor;
	}

	/**
	 * Return what has woven methods acquire their locks.
	 * @param definitions the locks of the methods
	 * @param registry where the locks come from, asked at the first call
	 */
	DistributedLockWeaving weaving(LockDefinitionSource definitions, Supplier<LockRegistry> registry) {
		return DistributedLockWeaving.locking(definitions, registry, this.onActiveTransaction);
	}

}
