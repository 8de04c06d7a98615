// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AdviceModeImportSelector;

/**
 * Chooses proxies or weaving, never both.
 */
class DistributedLocksSelector extends AdviceModeImportSelector<EnableDistributedLocks> {

	@Override
	protected String[] selectImports(AdviceMode mode) {
		Class<?> locking = (mode == AdviceMode.ASPECTJ) ? LockWeavingConfiguration.class
				: LockAdvisorConfiguration.class;
		return new String[] { DistributedLocksConfiguration.class.getName(), locking.getName() };
	}

}
