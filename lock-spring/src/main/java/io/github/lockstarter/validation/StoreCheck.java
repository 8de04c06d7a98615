// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.LockStoreCreationException;
import io.github.lockstarter.store.LockStores;
import io.github.lockstarter.store.StoreCapabilities;
import io.github.lockstarter.store.UnknownLockStoreException;

/**
 * Checks that the store of each annotated method exists and can do what the method asks
 * for, and that each lock name with settings is in use.
 */
final class StoreCheck {

	private static final Log logger = LogFactory.getLog(StoreCheck.class);

	/** An application with a registry of its own has none. */
	private final @Nullable LockStores stores;

	private final LockSettings settings;

	private final Map<String, Use> firstUses = new HashMap<>();

	StoreCheck(ConfigurableListableBeanFactory beanFactory) {
		this.stores = beanFactory.getBeanProvider(LockStores.class).getIfUnique();
		this.settings = beanFactory.getBeanProvider(LockSettings.class).getIfUnique(() -> LockSettings.NONE);
	}

	/**
	 * Check a lock of a method.
	 * @throws InvalidLockDefinitionException if its store cannot keep it
	 */
	void check(Method method, LockRequest request) {
		LockRequest complete = complete(method, request);
		String store = complete.store();
		if (this.stores != null) {
			store = (store != null) ? store : this.stores.defaultName();
			String objection = StoreCapabilities.of(store, find(method, store, this.stores)).objection(complete);
			if (objection != null) {
				throw new InvalidLockDefinitionException(method, "the lock " + objection,
						"Change the annotation, or use a store that supports it. Stores: " + this.stores.describe()
								+ ".",
						null);
			}
		}
		Use use = new Use(method, (store != null) ? store : "");
		Use first = this.firstUses.putIfAbsent(request.key().name(), use);
		if (first != null && !first.store().equals(use.store())) {
			logger.warn("Lock '" + request.key() + "' is in the store '" + first.store() + "' for '"
					+ InvalidLockDefinitionException.label(first.method()) + "', and in '" + use.store() + "' for '"
					+ InvalidLockDefinitionException.label(method)
					+ "': an owner in one store does not exclude an owner in the other");
		}
	}

	private LockRequest complete(Method method, LockRequest request) {
		try {
			return this.settings.forBody(request);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidLockDefinitionException(method,
					"the settings of the lock name '" + request.key().name() + "' do not fit: " + ex.getMessage(),
					"Change the settings, or give the lock of this method a name of its own.", ex);
		}
	}

	private static LockStore find(Method method, String name, LockStores stores) {
		LockStore store;
		try {
			store = stores.find(name);
		}
		catch (RuntimeException ex) {
			throw new LockStoreCreationException(
					"'" + InvalidLockDefinitionException.label(method) + "' requests its lock in", name, ex);
		}
		if (store == null) {
			UnknownLockStoreException unknown = new UnknownLockStoreException("the lock is requested in", name, stores);
			throw new InvalidLockDefinitionException(method, String.valueOf(unknown.getMessage()),
					"Correct the name, or add the module or the LockStore bean for '" + name + "'.", unknown);
		}
		return store;
	}

	/**
	 * Warn of names in the settings that no annotation has. Without any annotation, as in
	 * a slice of the application, all of them may belong to a registry or a template.
	 */
	void warnOfUnknownNames() {
		TreeSet<String> unknown = new TreeSet<>(this.settings.names().keySet());
		unknown.removeAll(this.firstUses.keySet());
		if (!this.firstUses.isEmpty() && !unknown.isEmpty()) {
			logger.warn("There are settings for the lock name" + ((unknown.size() > 1) ? "s '" : " '")
					+ String.join("', '", unknown)
					+ "', which no @DistributedLock has. Correct misspelt names; for locks that only a LockRegistry or"
					+ " a LockTemplate acquires, ignore this warning");
		}
	}

	private record Use(Method method, String store) {
	}

}
