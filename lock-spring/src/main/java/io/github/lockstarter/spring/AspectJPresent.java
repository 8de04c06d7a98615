// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/**
 * Matches if AspectJ is on the class path.
 */
class AspectJPresent implements Condition {

	@Override
	public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
		return ClassUtils.isPresent("org.aspectj.lang.annotation.Aspect", context.getClassLoader());
	}

}
