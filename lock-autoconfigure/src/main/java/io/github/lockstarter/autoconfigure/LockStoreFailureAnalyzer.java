// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Objects;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

import io.github.lockstarter.store.LockStoreCreationException;
import io.github.lockstarter.store.UnknownLockStoreException;
import io.github.lockstarter.store.UnsuitableLockStoreException;

/**
 * Analyzer for the default store, or that of a lock name, which is missing or cannot do
 * what its locks ask for.
 */
class LockStoreFailureAnalyzer implements FailureAnalyzer {

	@Override
	public @Nullable FailureAnalysis analyze(Throwable failure) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
			.map((cause) -> analyze(failure, cause))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	private static @Nullable FailureAnalysis analyze(Throwable failure, Throwable cause) {
		if (cause instanceof LockStoreNotFoundException notFound) {
			return notFound(failure, notFound);
		}
		if (cause instanceof UnknownLockStoreException unknown) {
			String remedy = LockStoreChoice.remedy(unknown.getStore());
			return new FailureAnalysis(cause.getMessage() + ".", (remedy != null) ? remedy
					: "Correct the name under distributed-lock.locks, or declare a LockStore bean of that name.",
					cause);
		}
		if (cause instanceof UnsuitableLockStoreException unsuitable) {
			String properties = "distributed-lock." + PropertyChecks.ofLock(unsuitable.getLockName());
			return new FailureAnalysis(cause.getMessage() + ".",
					"Choose another store with " + properties + ".store, or remove " + properties + ".hold-at-least.",
					cause);
		}
		return null;
	}

	private static FailureAnalysis notFound(Throwable failure, LockStoreNotFoundException cause) {
		LockStoreCreationException creation = Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
			.filter(LockStoreCreationException.class::isInstance)
			.map(LockStoreCreationException.class::cast)
			.findFirst()
			.orElse(null);
		String description = (creation != null) ? creation.getMessage() + ". " + cause.getMessage()
				: cause.getMessage();
		// The default store does not matter if something names another one
		String forTests = (creation != null)
				? "declare a MemoryLockStore bean with the name '" + creation.getStore() + "'"
				: "set distributed-lock.store=memory";
		return new FailureAnalysis(description + ".",
				"To lock across instances, " + cause.getRemedy() + ", or declare a LockStore bean of your own."
						+ " For tests, " + forTests + "."
						+ " To run without distributed locks, set distributed-lock.enabled=false.",
				cause);
	}

}
