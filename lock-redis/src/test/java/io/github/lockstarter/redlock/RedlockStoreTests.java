// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;

import org.junit.jupiter.api.AutoClose;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockStoreTests;

class RedlockStoreTests extends AbstractLockStoreTests {

	@AutoClose
	private static final RedlockServers servers = RedlockServers.start(3);

	@Override
	protected LockStore createStore() {
		return servers.store(AbstractRedlockTests.PATIENT);
	}

	/** A majority has to vote within a third of it. */
	@Override
	protected Duration shortLeaseTime() {
		return Duration.ofMillis(600);
	}

}
