// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AdviceModeImportSelector;

/**
 * Selects the configurations of an application without Spring Boot. With Spring Boot,
 * auto-configuration imports the same, except for the registry.
 */
class DistributedLocksSelector extends AdviceModeImportSelector<EnableDistributedLocks> {

	@Override
	protected String[] selectImports(AdviceMode mode) {
		return new String[] { DistributedLocksConfiguration.class.getName(), locking(mode).getName(),
				LockRegistryConfiguration.class.getName(), LockFencingConfiguration.class.getName() };
	}

	/** Proxies or weaving, never both. */
	private static Class<?> locking(AdviceMode mode) {
		return (mode == AdviceMode.ASPECTJ) ? LockWeavingConfiguration.class : LockAdvisorConfiguration.class;
	}

}
