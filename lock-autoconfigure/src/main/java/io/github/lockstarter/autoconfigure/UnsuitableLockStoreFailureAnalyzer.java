// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.github.lockstarter.store.UnsuitableLockStoreException;

/**
 * Analyzer for an {@link UnsuitableLockStoreException}.
 */
class UnsuitableLockStoreFailureAnalyzer extends AbstractFailureAnalyzer<UnsuitableLockStoreException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnsuitableLockStoreException cause) {
		return new FailureAnalysis(cause.getMessage() + ".",
				"Choose another store with distributed-lock." + Property.ofLock(cause.getLockName()) + ".store"
						+ ", or remove distributed-lock." + Property.ofLock(cause.getLockName()) + ".hold-at-least.",
				cause);
	}

}
