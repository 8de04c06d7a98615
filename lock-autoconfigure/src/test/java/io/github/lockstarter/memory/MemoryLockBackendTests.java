// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import io.github.lockstarter.backend.AbstractLockBackendTests;
import io.github.lockstarter.backend.LockBackend;

class MemoryLockBackendTests extends AbstractLockBackendTests {

	private final MemoryLockStore store = new MemoryLockStore();

	@Override
	protected LockBackend createBackend() {
		return new MemoryLockBackend(this.store);
	}

	@Override
	protected void close(LockBackend backend) {
		// It has nothing to close
	}

}
