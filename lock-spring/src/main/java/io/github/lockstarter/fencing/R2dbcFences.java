// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import io.r2dbc.spi.ConnectionFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.r2dbc.connection.R2dbcTransactionManager;

/**
 * Fences reactive transactions. Needs classes that may be absent.
 */
final class R2dbcFences {

	private R2dbcFences() {
	}

	/**
	 * Return a manager that does the same as another one and fences its transactions, or
	 * {@code null} if that manager is of a kind that cannot be replaced.
	 */
	static @Nullable FencedR2dbcTransactionManager fenced(Object manager, FencingSettings settings) {
		if (manager instanceof FencedR2dbcTransactionManager fenced) {
			return fenced;
		}
		if (manager.getClass() != R2dbcTransactionManager.class) {
			return null;
		}
		R2dbcTransactionManager plain = (R2dbcTransactionManager) manager;
		ConnectionFactory connectionFactory = plain.getConnectionFactory();
		if (connectionFactory == null) {
			return null;
		}
		FencedR2dbcTransactionManager fenced = new FencedR2dbcTransactionManager(
				new R2dbcFenceTable(connectionFactory, settings.table()), settings.transactions());
		fenced.setEnforceReadOnly(plain.isEnforceReadOnly());
		fenced.setTransactionExecutionListeners(plain.getTransactionExecutionListeners());
		return fenced;
	}

}
