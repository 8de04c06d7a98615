// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Analyzer for a {@link LockStoreNotFoundException}.
 */
class LockStoreFailureAnalyzer extends AbstractFailureAnalyzer<LockStoreNotFoundException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockStoreNotFoundException cause) {
		return new FailureAnalysis(cause.getMessage() + ".",
				"To lock across instances, " + cause.getRemedy() + ", or declare a LockStore bean of your own."
						+ " For tests, " + forTests(rootFailure)
						+ " To run without distributed locks, set distributed-lock.enabled=false.",
				cause);
	}

	/**
	 * The default store does not matter if something names the registry of another one.
	 */
	private static String forTests(Throwable failure) {
		for (Throwable each = failure; each != null; each = each.getCause()) {
			if (each instanceof BeanCreationException creation && creation.getBeanName() != null
					&& DefaultRegistry.remedy(creation.getBeanName()) != null) {
				return "declare a LockRegistry bean with the name '" + creation.getBeanName() + "'.";
			}
			if (each instanceof BeanCreationException creation
					&& DefaultRegistryConfiguration.REGISTRY.equals(creation.getBeanName())) {
				break;
			}
		}
		return "set distributed-lock.store=memory.";
	}

}
