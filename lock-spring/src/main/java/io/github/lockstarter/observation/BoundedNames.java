// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Something for each lock name that is a value of a tag. An application may build lock
 * names from data, and a monitoring system does not bear that.
 *
 * @param <T> what a name has
 */
final class BoundedNames<T> {

	/** How many names a registry shows as they are. */
	static final int MAX_NAMES = 100;

	/** Stands for all further names. */
	static final String OTHER = "other";

	private final Map<String, T> all = new ConcurrentHashMap<>();

	private final Function<String, T> factory;

	BoundedNames(Function<String, T> factory) {
		this.factory = factory;
	}

	T get(String name) {
		T known = this.all.get(name);
		if (known == null && this.all.size() >= MAX_NAMES) {
			known = this.all.get(OTHER);
		}
		return (known != null) ? known : add(name);
	}

	private synchronized T add(String name) {
		T known = this.all.get(name);
		if (known != null) {
			return known;
		}
		String shown = (this.all.size() < MAX_NAMES) ? name : OTHER;
		T added = this.all.get(shown);
		if (added == null) {
			added = this.factory.apply(shown);
			this.all.put(shown, added);
		}
		return added;
	}

	Collection<T> all() {
		return this.all.values();
	}

}
