// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.github.lockstarter.store.LockStoreCreationException;

/**
 * Analyzer for a {@link LockStoreNotFoundException}.
 */
class LockStoreNotFoundFailureAnalyzer extends AbstractFailureAnalyzer<LockStoreNotFoundException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockStoreNotFoundException cause) {
		LockStoreCreationException creation = findCause(rootFailure, LockStoreCreationException.class);
		String description = (creation != null) ? creation.getMessage() + ". " + cause.getMessage()
				: cause.getMessage();
		// The default store does not matter if something names another one
		String forTests = (creation != null)
				? "declare a MemoryLockStore bean with the name '" + creation.getStore() + "'"
				: "set distributed-lock.store=memory";
		return new FailureAnalysis(description + ".",
				"To lock across instances, " + cause.getRemedy() + ", or declare a LockStore bean of your own."
						+ " For tests, " + forTests + "."
						+ " To run without locks, set distributed-lock.enabled=false.",
				cause);
	}

}
