// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.hibernate.ConnectionAcquisitionMode;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.resource.jdbc.spi.LogicalConnectionImplementor;

import org.springframework.orm.jpa.EntityManagerHolder;

/**
 * The open sessions of Hibernate, which keep the connection of their first read until
 * they are closed. It is a class of its own, because an application may have no
 * Hibernate.
 */
final class HibernateSessions {

	private static final Log logger = LogFactory.getLog(HibernateSessions.class);

	private HibernateSessions() {
	}

	/**
	 * Let a resource of the thread, if it is an idle session, give its connection back.
	 */
	static void disconnect(Object resource) {
		if (!(resource instanceof EntityManagerHolder holder)) {
			return;
		}
		try {
			SessionImplementor session = holder.getEntityManager().unwrap(SessionImplementor.class);
			LogicalConnectionImplementor connection = session.getJdbcCoordinator().getLogicalConnection();
			if (isIdle(connection) && acquiresAgain(connection) && !session.isTransactionInProgress()) {
				connection.manualDisconnect();
			}
		}
		catch (RuntimeException | LinkageError ex) {
			// Of another vendor, or of another version of Hibernate: the call need not
			// fail for it
			logger.debug("A persistence context keeps its connection while its thread waits for a lock", ex);
		}
	}

	private static boolean isIdle(LogicalConnectionImplementor connection) {
		return connection.isPhysicallyConnected() && !connection.getResourceRegistry().hasRegisteredResources();
	}

	/** Not one that was passed to the session when it was opened. */
	private static boolean acquiresAgain(LogicalConnectionImplementor connection) {
		return connection.getConnectionHandlingMode().getAcquisitionMode() == ConnectionAcquisitionMode.AS_NEEDED;
	}

}
