// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.context.annotation.AdviceMode;

import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;

/**
 * How locks are acquired in an application.
 *
 * @param mode whether proxies or woven methods acquire the locks of annotated methods
 * @param order position among the advisors of a method
 * @param onActiveTransaction the reaction to a transaction that is already active
 * @param onPersistenceContext the reaction to an open persistence context
 * @param local whether all locks are kept in this JVM, whatever their store
 */
public record LockAdvice(AdviceMode mode, int order, OnActiveTransaction onActiveTransaction,
		OnPersistenceContext onPersistenceContext, boolean local) {

}
