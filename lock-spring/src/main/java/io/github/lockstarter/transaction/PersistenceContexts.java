// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The persistence contexts that a thread had open before it was made to open new ones,
 * with the scope around them, such as that of {@code Propagation.SUPPORTS}.
 */
final class PersistenceContexts {

	/**
	 * Whether a class is one for the persistence context of a thread; that of Hibernate's
	 * own sessions extends it. Known by name only, because the library does not depend on
	 * JPA.
	 */
	private static final ClassValue<Boolean> HOLDERS = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			Class<?> superclass = type.getSuperclass();
			return type.getName().equals("org.springframework.orm.jpa.EntityManagerHolder")
					|| (superclass != null && get(superclass));
		}

	};

	private static final boolean HIBERNATE_PRESENT = isPresent("org.springframework.orm.jpa.EntityManagerHolder")
			&& isPresent("org.hibernate.engine.spi.SessionImplementor");

	/** Those that the scope has opened give themselves back. */
	private final @Nullable List<TransactionSynchronization> scope;

	private final @Nullable String name = TransactionSynchronizationManager.getCurrentTransactionName();

	private final boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();

	private final @Nullable Integer isolation = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();

	private final Map<Object, Object> holders;

	private PersistenceContexts() {
		this.scope = TransactionSynchronizationManager.isSynchronizationActive()
				? TransactionSynchronizationManager.getSynchronizations() : null;
		if (this.scope != null) {
			this.scope.forEach(TransactionSynchronization::suspend);
			TransactionSynchronizationManager.clear();
		}
		this.holders = unbindAll();
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, PersistenceContexts.class.getClassLoader());
	}

	static boolean areOpen() {
		for (Object resource : TransactionSynchronizationManager.getResourceMap().values()) {
			if (HOLDERS.get(resource.getClass())) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Let those of Hibernate give their connections back; JPA itself has no way to say
	 * so.
	 */
	static void disconnect() {
		if (HIBERNATE_PRESENT) {
			TransactionSynchronizationManager.getResourceMap().values().forEach(HibernateSessions::disconnect);
		}
	}

	/**
	 * Take the persistence contexts from the thread, as a transaction does that suspends
	 * another one.
	 */
	static PersistenceContexts suspend() {
		return new PersistenceContexts();
	}

	private static Map<Object, Object> unbindAll() {
		Map<Object, Object> holders = new HashMap<>(2);
		TransactionSynchronizationManager.getResourceMap().forEach((factory, resource) -> {
			if (HOLDERS.get(resource.getClass())) {
				holders.put(factory, resource);
			}
		});
		holders.keySet().forEach(TransactionSynchronizationManager::unbindResourceIfPossible);
		return holders;
	}

	/**
	 * Give the persistence contexts back, in place of what the thread has left.
	 */
	void resume() {
		unbindAll();
		this.holders.forEach(TransactionSynchronizationManager::bindResource);
		if (this.scope == null) {
			return;
		}
		TransactionSynchronizationManager.clear();
		TransactionSynchronizationManager.setCurrentTransactionName(this.name);
		TransactionSynchronizationManager.setCurrentTransactionReadOnly(this.readOnly);
		TransactionSynchronizationManager.setCurrentTransactionIsolationLevel(this.isolation);
		TransactionSynchronizationManager.initSynchronization();
		this.scope.forEach((synchronization) -> {
			synchronization.resume();
			TransactionSynchronizationManager.registerSynchronization(synchronization);
		});
	}

}
