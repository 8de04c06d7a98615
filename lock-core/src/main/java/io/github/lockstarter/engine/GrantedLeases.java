// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;

import io.github.lockstarter.Lease;

/**
 * The leases that an acquisition of several locks has been granted so far. A lease that
 * is granted after the result of the acquisition is known is released.
 */
final class GrantedLeases {

	private final Future<?> result;

	/** Guarded by this. */
	private final List<Lease> leases = new ArrayList<>();

	GrantedLeases(Future<?> result) {
		this.result = result;
	}

	/**
	 * Add leases, or release them if the result is known.
	 * @return whether they were added
	 */
	boolean add(List<Lease> granted) {
		synchronized (this) {
			if (!this.result.isDone()) {
				return this.leases.addAll(granted);
			}
		}
		HeldLeases.release(granted);
		return false;
	}

	synchronized List<Lease> all() {
		return List.copyOf(this.leases);
	}

	void release() {
		List<Lease> granted;
		synchronized (this) {
			granted = all();
			this.leases.clear();
		}
		HeldLeases.release(granted);
	}

}
