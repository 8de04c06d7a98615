// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Starts the databases while the first tests run that need none: each takes seconds.
 */
public final class ServersAhead implements BeforeAllCallback {

	private static final AtomicBoolean begun = new AtomicBoolean();

	@Override
	public void beforeAll(ExtensionContext context) {
		if (begun.compareAndSet(false, true)) {
			start(TestDatabase.POSTGRESQL);
			start(TestDatabase.MARIADB);
		}
	}

	/** If it fails, so does the first test that needs the database. */
	private static void start(TestDatabase database) {
		Thread thread = new Thread(() -> {
			try {
				database.url();
			}
			catch (RuntimeException ex) {
				System.err.println("The database " + database + " did not start ahead: " + ex);
			}
		}, "servers-ahead-" + database);
		thread.setDaemon(true);
		thread.start();
	}

}
