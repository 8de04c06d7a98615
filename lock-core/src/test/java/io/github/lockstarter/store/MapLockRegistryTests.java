// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import io.github.lockstarter.engine.Time;
import io.github.lockstarter.test.AbstractLockRegistryTests;

/**
 * Instances that share the example store, and poll it.
 */
class MapLockRegistryTests extends AbstractLockRegistryTests {

	private final MapLockStore store = new MapLockStore(Time.SYSTEM::now);

	@Override
	protected LockStore createStore() {
		return this.store;
	}

}
