// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Analyzer for a {@link LockStoreNotFoundException}.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class LockStoreFailureAnalyzer extends AbstractFailureAnalyzer<LockStoreNotFoundException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockStoreNotFoundException cause) {
		return new FailureAnalysis(cause.getMessage() + ".",
				"To lock across instances, " + cause.getRemedy() + ", or declare a LockStore bean of your own."
						+ " For tests, set distributed-lock.store=memory. To run without distributed locks, set"
						+ " distributed-lock.enabled=false: then the locks of all registries are kept in this JVM.",
				cause);
	}

}
