// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The stores of an application, by name. One of them is the default; a request, an
 * annotation or the settings of a lock name choose another. Use it where locks are kept
 * in more than one store.
 *
 * <p>
 * The locks of two stores are different locks, so the locks of one name belong in one
 * store. Implementations are thread-safe.
 */
public interface LockStores {

	/**
	 * Return the name of the store of all locks for which no other one is chosen.
	 */
	String defaultName();

	/**
	 * Return a store, which may be created by the first call for its name.
	 * @param name its name
	 * @return the same store for each call, or {@code null} if no store has this name
	 */
	@Nullable LockStore find(String name);

	/**
	 * Return the name by which all instances know a store, whichever of its names a lock
	 * has chosen.
	 * @param name a name of the store
	 */
	default String canonicalName(String name) {
		return name;
	}

	/**
	 * Return the names of all stores, in the order in which messages list them.
	 */
	Set<String> names();

	/**
	 * Return the names of all stores for a message.
	 */
	default String describe() {
		return names().stream()
			.map((name) -> "'" + name + "'" + (name.equals(defaultName()) ? " (the default)" : ""))
			.collect(Collectors.joining(", "));
	}

	/**
	 * Return a single store under its own name.
	 * @param store the store
	 */
	static LockStores of(LockStore store) {
		return of(store.name(), Map.of(store.name(), store));
	}

	/**
	 * Return several stores.
	 * @param defaultName the name of the default store
	 * @param stores the stores by their names
	 */
	static LockStores of(String defaultName, Map<String, LockStore> stores) {
		return new GivenLockStores(defaultName, stores);
	}

}
