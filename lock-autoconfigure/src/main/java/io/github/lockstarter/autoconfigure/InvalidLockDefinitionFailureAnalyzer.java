// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.store.UnknownLockStoreException;

/**
 * Analyzer for an {@link InvalidLockDefinitionException}.
 */
class InvalidLockDefinitionFailureAnalyzer extends AbstractFailureAnalyzer<InvalidLockDefinitionException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidLockDefinitionException cause) {
		UnknownLockStoreException unknown = findCause(cause, UnknownLockStoreException.class);
		String remedy = (unknown != null) ? LockStoreChoice.remedy(unknown.getStore()) : null;
		return new FailureAnalysis(cause.getDescription(), (remedy != null) ? remedy : cause.getAction(), cause);
	}

}
