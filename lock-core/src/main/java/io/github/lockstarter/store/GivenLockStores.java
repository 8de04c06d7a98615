// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Stores that exist from the beginning.
 *
 * @param defaultName the name of the default store
 * @param stores the stores by their names
 */
record GivenLockStores(String defaultName, Map<String, LockStore> stores) implements LockStores {

	GivenLockStores {
		stores = Collections.unmodifiableMap(new TreeMap<>(stores));
	}

	@Override
	public @Nullable LockStore find(String name) {
		return this.stores.get(name);
	}

	@Override
	public String canonicalName(String name) {
		LockStore store = find(name);
		return Stream.concat(Stream.of(this.defaultName), names().stream())
			.filter((each) -> find(each) == store)
			.findFirst()
			.orElse(name);
	}

	@Override
	public Set<String> names() {
		return this.stores.keySet();
	}

}
