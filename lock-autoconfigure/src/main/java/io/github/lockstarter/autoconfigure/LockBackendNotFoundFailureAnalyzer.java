// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Analyzer for a {@link LockBackendNotFoundException}.
 */
class LockBackendNotFoundFailureAnalyzer extends AbstractFailureAnalyzer<LockBackendNotFoundException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockBackendNotFoundException cause) {
		return new FailureAnalysis(cause.getMessage() + ".",
				"To lock across instances, " + cause.getRemedy() + ", or declare a LockBackend bean of your own."
						+ " For tests, set distributed-lock.backend=memory."
						+ " To do without locks, set distributed-lock.enabled=false.",
				cause);
	}

}
