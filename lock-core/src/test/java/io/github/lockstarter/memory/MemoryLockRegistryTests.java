// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockRegistryTests;
import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * Instances that share the store in memory.
 */
class MemoryLockRegistryTests extends AbstractLockRegistryTests {

	private final LockMemory memory = new LockMemory();

	@Override
	protected LockStore createStore() {
		return new MemoryLockStore(this.memory);
	}

	@Override
	@Test
	@Tag("clock")
	@FullProfileOnly
	protected void aLeaseIsRenewedWhileItIsHeld() throws Exception {
		super.aLeaseIsRenewedWhileItIsHeld();
	}

}
