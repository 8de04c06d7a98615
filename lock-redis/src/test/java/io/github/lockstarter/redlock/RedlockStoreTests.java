// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.AbstractLockStoreTests;

/**
 * The contract on three servers. The tests share the stores of their JVMs, which are slow
 * to connect: most tests only learn from a store that they are to be skipped.
 */
class RedlockStoreTests extends AbstractLockStoreTests {

	@AutoClose
	private static final RedlockServers servers = RedlockServers.start(3);

	private static final List<RedlockStore> stores = Stream.generate(() -> servers.store(AbstractRedlockTests.PATIENT))
		.limit(4)
		.toList();

	private int next;

	@AfterAll
	static void disconnect() {
		stores.forEach(RedlockStore::close);
	}

	@Override
	protected LockStore createStore() {
		return stores.get(this.next++);
	}

	@Override
	protected void close(LockStore store) {
	}

	@Override
	protected void expire(LockKey key, OwnerToken owner) {
		servers.expire(key, LEASE_TIME);
	}

}
