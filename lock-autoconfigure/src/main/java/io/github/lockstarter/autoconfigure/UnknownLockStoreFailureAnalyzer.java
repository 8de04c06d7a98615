// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.github.lockstarter.store.UnknownLockStoreException;

/**
 * Analyzer for an {@link UnknownLockStoreException}.
 */
class UnknownLockStoreFailureAnalyzer extends AbstractFailureAnalyzer<UnknownLockStoreException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnknownLockStoreException cause) {
		String remedy = remedy(cause);
		return new FailureAnalysis(cause.getMessage() + ".",
				(remedy != null) ? remedy
						: "Correct the name under distributed-lock.locks, or declare a LockStore bean of that name.",
				cause);
	}

	/**
	 * Return how the application gets a kind of store, or {@code null} if it is none.
	 */
	static @Nullable String remedy(UnknownLockStoreException unknown) {
		return LockStoreRemedy.of(unknown.getStore(), Thread.currentThread().getContextClassLoader());
	}

}
