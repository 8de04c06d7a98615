// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.util.StringUtils;

import io.github.lockstarter.transaction.FencingNotPossibleException;

/**
 * Analyzer for a {@link FencingNotPossibleException}.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class FencingNotPossibleFailureAnalyzer extends AbstractFailureAnalyzer<FencingNotPossibleException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, FencingNotPossibleException cause) {
		return new FailureAnalysis(cause.getProblem() + ".", StringUtils.capitalize(cause.getRemedy()) + ".", cause);
	}

}
