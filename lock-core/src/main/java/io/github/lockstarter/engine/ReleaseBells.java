// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.ReleaseListener;

/**
 * Rings the bell of the lock that a message from the store is about.
 */
final class ReleaseBells implements ReleaseListener {

	private final LocalEntries entries;

	private final StoreQueue queue;

	ReleaseBells(LocalEntries entries, StoreQueue queue) {
		this.entries = entries;
		this.queue = queue;
	}

	@Override
	public void onRelease(LockKey key) {
		LocalEntry entry = this.entries.get(key);
		if (entry != null) {
			entry.bell().ring();
		}
		else {
			this.queue.leave(key);
		}
	}

	@Override
	public void onDoubt() {
		this.entries.all().forEach((entry) -> entry.bell().ring());
	}

}
