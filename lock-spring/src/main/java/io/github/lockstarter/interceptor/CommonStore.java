// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.store.LockStores;

/**
 * The one store of locks that a method acquires together.
 *
 * @param settings the settings of lock names
 * @param stores the stores of the application, or {@code null} if they are not known
 */
record CommonStore(LockSettings settings, @Nullable LockStores stores) {

	/**
	 * Return locks that all name their store if one of them does: keys that are equal
	 * then stand for one lock.
	 * @throws InvalidLockDefinitionException if the locks are in different stores
	 */
	List<KeyedRequest> require(List<KeyedRequest> locks, Method method) {
		LockRequest first = locks.get(0).request();
		String store = storeOf(first);
		for (KeyedRequest lock : locks) {
			String other = storeOf(lock.request());
			if (!Objects.equals(other, store)) {
				throw new InvalidLockDefinitionException(method,
						"its locks are in different stores: '" + first.key() + "' in " + text(store) + ", and '"
								+ lock.request().key() + "' in " + text(other),
						"Keep locks that are acquired together in one store, or acquire them one after the other.",
						null);
			}
		}
		if (store == null || locks.stream().allMatch((lock) -> lock.request().store() == null)) {
			return locks;
		}
		return locks.stream().map((lock) -> new KeyedRequest(lock.request().withStore(store), lock.key())).toList();
	}

	private @Nullable String storeOf(LockRequest request) {
		String store = this.settings.forLease(request).store();
		return (store == null && this.stores != null) ? this.stores.defaultName() : store;
	}

	private static String text(@Nullable String store) {
		return (store != null) ? "'" + store + "'" : "the default one";
	}

}
