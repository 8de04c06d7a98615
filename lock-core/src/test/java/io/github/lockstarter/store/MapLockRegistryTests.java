// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.engine.Time;
import io.github.lockstarter.test.AbstractLockRegistryTests;
import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * Instances that share the example store, and poll it.
 */
class MapLockRegistryTests extends AbstractLockRegistryTests {

	private final MapLockStore store = new MapLockStore(Time.SYSTEM::now);

	@Override
	protected LockStore createStore() {
		return this.store;
	}

	@Override
	@Test
	@Tag("clock")
	@FullProfileOnly
	protected void aLeaseIsRenewedWhileItIsHeld() throws Exception {
		super.aLeaseIsRenewedWhileItIsHeld();
	}

}
