// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/**
 * Matches if Spring transactions are on the class path.
 */
class TransactionsPresent implements Condition {

	@Override
	public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
		return ClassUtils.isPresent("org.springframework.transaction.ConfigurableTransactionManager",
				context.getClassLoader());
	}

}
