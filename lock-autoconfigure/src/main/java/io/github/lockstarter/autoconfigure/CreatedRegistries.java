// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.engine.DefaultLockRegistry;

/**
 * The registries that the application has created so far. Those of other kinds of stores
 * are not created to be looked at, because they would connect to servers that nothing
 * uses.
 *
 * @param all the registries
 * @param injected the one that is injected by its type, which may be around one of them
 */
record CreatedRegistries(Supplier<Collection<DefaultLockRegistry>> all, ObjectProvider<LockRegistry> injected) {

	Map<String, DefaultLockRegistry> byName() {
		Map<String, DefaultLockRegistry> registries = new TreeMap<>();
		this.all.get().forEach((each) -> {
			// A mock has no name
			if (each.name() != null) {
				registries.put(each.name(), each);
			}
		});
		return registries;
	}

	/**
	 * Return a registry, or {@code null} if there is none.
	 * @param name its name, or {@code null} for the one that is injected by its type
	 */
	@Nullable DefaultLockRegistry find(@Nullable String name) {
		if (name != null) {
			return byName().get(name);
		}
		LockRegistry registry = this.injected.getIfUnique();
		while (registry != null && registry.delegate() != registry) {
			registry = registry.delegate();
		}
		return (registry instanceof DefaultLockRegistry found) ? found : null;
	}

}
