// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockRegistryTests;
import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * Instances that share several independent servers.
 */
class RedlockRegistryTests extends AbstractLockRegistryTests {

	@AutoClose
	private static final RedlockServers servers = RedlockServers.start(3);

	@Override
	protected LockStore createStore() {
		return servers.store(AbstractRedlockTests.PATIENT);
	}

	@Override
	@Test
	@Tag("clock")
	@FullProfileOnly
	protected void aLeaseIsRenewedWhileItIsHeld() throws Exception {
		super.aLeaseIsRenewedWhileItIsHeld();
	}

}
