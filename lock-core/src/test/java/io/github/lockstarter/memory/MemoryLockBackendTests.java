// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.time.Duration;

import io.github.lockstarter.test.AbstractLockBackendTests;
import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.test.ManualClock;

class MemoryLockBackendTests extends AbstractLockBackendTests {

	private final ManualClock clock = new ManualClock();

	private final MemoryLockStore store = new MemoryLockStore(this.clock);

	@Override
	protected LockBackend createBackend() {
		return new MemoryLockBackend(this.store);
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
