// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.store.LockStore;

/**
 * What a {@link LockStore} can do. A request for anything else is refused, and an
 * annotation for it fails the start of the application: a lock is never granted in a
 * weaker form than requested.
 *
 * @param store the name of the store
 * @param modes the modes in which it grants locks
 * @param keeping whether it can keep a lock after its owner has released it
 */
record StoreCapabilities(String store, Set<LockMode> modes, boolean keeping) {

	/**
	 * Return the capabilities that a store declares, under the name by which the
	 * application knows the store.
	 * @param name the name
	 * @param store the store
	 */
	static StoreCapabilities of(String name, LockStore store) {
		return new StoreCapabilities(name, new TreeSet<>(store.modes()), store.keeping().isPresent());
	}

	/**
	 * Return the part of a request that the store cannot do, as the rest of a sentence
	 * that begins with the lock, or {@code null} if it can do all of it.
	 * @param request the request
	 */
	@Nullable String objection(LockRequest request) {
		if (!this.modes.contains(request.mode())) {
			return "is requested in mode " + request.mode() + ", but the lock store '" + this.store + "' grants "
					+ this.modes.stream().map(LockMode::name).collect(Collectors.joining(", ")) + " only";
		}
		return (request.holdAtLeast() != null && !this.keeping) ? keepingObjection() : null;
	}

	/**
	 * Check that the store can do all of a request.
	 * @param request the request
	 * @throws IllegalArgumentException if it cannot
	 */
	void require(LockRequest request) {
		String objection = objection(request);
		if (objection != null) {
			throw new IllegalArgumentException("Lock '" + request.key() + "' " + objection);
		}
	}

	/**
	 * Check that the store can keep a lock after its owner has released it.
	 * @param lock the lock to keep
	 * @throws IllegalArgumentException if it cannot
	 */
	void requireKeeping(String lock) {
		if (!this.keeping) {
			throw new IllegalArgumentException("Lock '" + lock + "' " + keepingObjection());
		}
	}

	private String keepingObjection() {
		return "is requested with 'holdAtLeast', but the lock store '" + this.store
				+ "' cannot keep a lock after its owner has released it";
	}

}
