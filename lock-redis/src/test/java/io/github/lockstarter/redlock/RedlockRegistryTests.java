// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
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
	private static RedlockServers servers;

	private static final List<RedlockStore> stores = new ArrayList<>();

	private int instances;

	@BeforeAll
	static void start() {
		servers = RedlockServers.start(3);
	}

	@AfterAll
	static void disconnect() {
		stores.forEach(RedlockStore::close);
		stores.clear();
	}

	@Override
	protected LockStore createStore() {
		if (this.instances == stores.size()) {
			stores.add(servers.store(AbstractRedlockTests.PATIENT));
		}
		return stores.get(this.instances++);
	}

	@Override
	protected boolean sharesStores() {
		return true;
	}

	@Override
	@Test
	@Tag("clock")
	@FullProfileOnly
	protected void aLeaseIsRenewedWhileItIsHeld() throws Exception {
		super.aLeaseIsRenewedWhileItIsHeld();
	}

}
