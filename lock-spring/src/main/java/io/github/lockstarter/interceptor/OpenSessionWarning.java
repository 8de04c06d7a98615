// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.LeaseContext;
import io.github.lockstarter.LeaseSet;

/**
 * Warns once if a method acquires its lock inside an open JPA session: the session
 * returns entities that it read before the lock, without asking the database again.
 */
final class OpenSessionWarning {

	private static final Log logger = LogFactory.getLog(OpenSessionWarning.class);

	/** Known by name only, because the library does not depend on JPA. */
	private static final String SESSION = "org.springframework.orm.jpa.EntityManagerHolder";

	private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			OpenSessionWarning.class.getClassLoader());

	private final Method method;

	private final AtomicBoolean logged = new AtomicBoolean(!TRANSACTIONS_PRESENT);

	OpenSessionWarning(Method method) {
		this.method = method;
	}

	/**
	 * Check the session of the current thread, before the body begins.
	 * @param lease the lease or leases that the thread has just acquired. If it held the
	 * locks before, the outermost acquisition is the one that matters
	 */
	void check(LeaseSet lease) {
		if (!this.logged.get() && isSessionOpen() && !LeaseContext.isReentrant(lease)
				&& this.logged.compareAndSet(false, true)) {
			logger.warn("The lock of '" + MethodLabel.of(this.method)
					+ "' was acquired inside an open JPA session. Entities that the session read before may be stale,"
					+ " because it returns them without asking the database again. Set spring.jpa.open-in-view=false"
					+ " and do not open a transaction around the method, or call entityManager.refresh(entity) under"
					+ " the lock. This warning is logged once for each method");
		}
	}

	private static boolean isSessionOpen() {
		for (Object resource : TransactionSynchronizationManager.getResourceMap().values()) {
			if (isSession(resource)) {
				return true;
			}
		}
		return false;
	}

	private static boolean isSession(Object resource) {
		Class<?> type = resource.getClass();
		while (type != null && !type.getName().equals(SESSION)) {
			type = type.getSuperclass();
		}
		return type != null;
	}

}
