// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockstarter.LockLostException;

/**
 * The callbacks for the loss of a lock, by lease. Guarded by the ending of its hold.
 */
final class LossCallbacks {

	private final List<Entry> entries = new ArrayList<>(1);

	void add(Object lease, Consumer<LockLostException> callback) {
		this.entries.add(new Entry(lease, callback));
	}

	/**
	 * Forget the callbacks of a lease that is closed.
	 */
	void forget(Object lease) {
		this.entries.removeIf((entry) -> entry.lease() == lease);
	}

	List<Consumer<LockLostException>> all() {
		return this.entries.stream().<Consumer<LockLostException>>map(Entry::callback).toList();
	}

	private record Entry(Object lease, Consumer<LockLostException> callback) {
	}

}
