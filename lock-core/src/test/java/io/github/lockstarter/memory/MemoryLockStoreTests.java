// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.time.Duration;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockStoreTests;
import io.github.lockstarter.test.ManualClock;

class MemoryLockStoreTests extends AbstractLockStoreTests {

	private final ManualClock clock = new ManualClock();

	private final LockMemory memory = new LockMemory(this.clock);

	@Override
	protected LockStore createStore() {
		return new MemoryLockStore(this.memory);
	}

	@Override
	protected long nanoTime() {
		return this.clock.getAsLong();
	}

	@Override
	protected void letTimePass() {
		this.clock.advance(Duration.ofMillis(60));
	}

}
