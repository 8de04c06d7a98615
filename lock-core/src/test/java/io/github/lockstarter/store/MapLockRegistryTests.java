// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import org.junit.jupiter.api.Tag;

import io.github.lockstarter.test.AbstractLockRegistryTests;

/**
 * Instances that share the example store, and poll it.
 */
@Tag("clock")
class MapLockRegistryTests extends AbstractLockRegistryTests {

	private final MapLockStore store = new MapLockStore(System::nanoTime);

	@Override
	protected LockStore createStore() {
		return this.store;
	}

}
