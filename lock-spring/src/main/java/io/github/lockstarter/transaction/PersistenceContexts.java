// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.HashMap;
import java.util.Map;

import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The persistence contexts that a thread had open before a body that opens its own.
 *
 * @param holders the resources of the thread, by what they belong to
 */
record PersistenceContexts(Map<Object, Object> holders) {

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

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, PersistenceContexts.class.getClassLoader());
	}

	static boolean areOpen() {
		return TransactionSynchronizationManager.getResourceMap()
			.values()
			.stream()
			.anyMatch((resource) -> HOLDERS.get(resource.getClass()));
	}

	/**
	 * Let those of Hibernate give their connections back, before the thread waits for a
	 * lock whose holder may need one; JPA itself has no way to say so.
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
		Map<Object, Object> holders = new HashMap<>(2);
		TransactionSynchronizationManager.getResourceMap().forEach((factory, resource) -> {
			if (HOLDERS.get(resource.getClass())) {
				holders.put(factory, resource);
			}
		});
		holders.keySet().forEach(TransactionSynchronizationManager::unbindResourceIfPossible);
		return new PersistenceContexts(holders);
	}

	/**
	 * Give the persistence contexts back, in place of what the thread has left.
	 */
	void resume() {
		suspend();
		this.holders.forEach(TransactionSynchronizationManager::bindResource);
	}

}
