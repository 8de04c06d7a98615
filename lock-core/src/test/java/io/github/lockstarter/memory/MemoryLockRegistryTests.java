// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockRegistryTests;

/**
 * Instances that share the store in memory.
 */
class MemoryLockRegistryTests extends AbstractLockRegistryTests {

	private final LockMemory memory = new LockMemory();

	@Override
	protected LockStore createStore() {
		return new MemoryLockStore(this.memory);
	}

}
