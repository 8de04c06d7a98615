// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

import io.github.lockstarter.interceptor.InvalidLockDefinitionException;

/**
 * Analyzer for an {@link InvalidLockDefinitionException}. It comes before those of its
 * causes.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class InvalidLockDefinitionFailureAnalyzer extends AbstractFailureAnalyzer<InvalidLockDefinitionException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidLockDefinitionException cause) {
		NoSuchBeanDefinitionException unknown = findCause(cause, NoSuchBeanDefinitionException.class);
		String name = (unknown != null) ? unknown.getBeanName() : null;
		String remedy = (name != null) ? DefaultRegistry.remedy(name) : null;
		return new FailureAnalysis(cause.getDescription(),
				(remedy != null) ? "For this registry, " + remedy + "." : cause.getAction(), cause);
	}

}
