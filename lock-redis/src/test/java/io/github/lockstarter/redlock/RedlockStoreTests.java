// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.AbstractLockStoreTests;

class RedlockStoreTests extends AbstractLockStoreTests {

	@AutoClose
	private static RedlockServers servers;

	@BeforeAll
	static void start() {
		servers = RedlockServers.start(3);
	}

	@Override
	protected LockStore createStore() {
		return servers.store(AbstractRedlockTests.PATIENT);
	}

	@Override
	protected boolean sharesJvms() {
		return true;
	}

	@Override
	protected void expire(LockKey key, OwnerToken owner) {
		servers.expire(key, LEASE_TIME);
	}

}
