// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Analyzer for an {@link InvalidAddressException}.
 */
class InvalidAddressFailureAnalyzer extends AbstractFailureAnalyzer<InvalidAddressException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidAddressException cause) {
		return new FailureAnalysis(cause.getMessage(),
				"Correct " + cause.getProperty() + ". Its value is not shown here, because it may contain a password.",
				cause);
	}

}
