// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.NameSettings;
import io.github.lockstarter.fencing.FenceTable;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.LockStores;

/**
 * The stores of locks whose transactions are fenced.
 *
 * @param definitions the annotations
 * @param stores all stores, if they are known by name
 * @param settings the settings of lock names
 */
record FencedStores(LockDefinitionSource definitions, Supplier<@Nullable LockStores> stores,
		Supplier<LockSettings> settings) {

	/**
	 * Return whether locks need a table of claims, because their store is not in the same
	 * database.
	 * @param table the table, or {@code null} if its database is not known
	 * @param all whether the transactions of all locks are fenced
	 */
	boolean need(@Nullable FenceTable table, boolean all) {
		LockStores stores = this.stores.get();
		if (stores == null || table == null) {
			return all || !this.definitions.fenced(false).isEmpty();
		}
		return names(all, stores.defaultName()).stream().anyMatch((name) -> !covers(stores.find(name), table));
	}

	private Set<String> names(boolean all, String defaultName) {
		Set<String> names = new TreeSet<>();
		if (all) {
			// Templates and registries are fenced as well
			names.add(defaultName);
			this.settings.get()
				.names()
				.values()
				.stream()
				.map(NameSettings::store)
				.filter(Objects::nonNull)
				.forEach(names::add);
		}
		this.definitions.fenced(all).forEach((request) -> names.add(store(request, defaultName)));
		return names;
	}

	private String store(LockRequest request, String defaultName) {
		String store = this.settings.get().forLease(request).store();
		return (store != null) ? store : defaultName;
	}

	private static boolean covers(@Nullable LockStore store, FenceTable table) {
		return store != null && store.commitCheck().map((check) -> check.covers(table.dataSource())).orElse(false);
	}

}
