// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.dao.DataAccessException;
import org.springframework.r2dbc.connection.init.ConnectionFactoryInitializer;
import org.springframework.r2dbc.connection.init.ResourceDatabasePopulator;

import io.github.lockstarter.fencing.FenceTableException;
import io.github.lockstarter.fencing.R2dbcFenceTable;

/**
 * The counterpart of {@link LockTable} for the table of reactive transactions.
 *
 * @param description the table, and how it is created
 * @param table the table
 */
record ReactiveLockTable(TableDescription description, R2dbcFenceTable table) {

	/**
	 * Make sure that the table exists, as far as the database can be asked.
	 */
	void require(ResourceLoader resourceLoader) {
		try {
			if (unreadable() != null) {
				create(resourceLoader);
			}
		}
		catch (IOException | DataAccessException ex) {
			this.description.unknown(ex);
		}
	}

	private void create(ResourceLoader resourceLoader) throws IOException {
		RuntimeException failure = isWanted() ? run(resourceLoader.getResource(location())) : null;
		// Another instance may have created it at the same time
		FenceTableException unreadable = unreadable();
		if (unreadable != null) {
			throw (failure != null) ? failure : this.description.missing(null,
					NestedExceptionUtils.getMostSpecificCause(unreadable).getMessage());
		}
	}

	private String location() {
		return this.description.location(this.description.asksForPlatform() ? this.table.platform() : "");
	}

	/**
	 * Run a script, and return why it has failed, or {@code null} if it has not.
	 */
	private @Nullable RuntimeException run(Resource script) throws IOException {
		ResourceDatabasePopulator populator = new ResourceDatabasePopulator(this.description.adapt(script));
		populator.setSqlScriptEncoding(StandardCharsets.UTF_8.name());
		ConnectionFactoryInitializer initializer = new ConnectionFactoryInitializer();
		initializer.setConnectionFactory(this.table.connectionFactory());
		initializer.setDatabasePopulator(populator);
		try {
			initializer.afterPropertiesSet();
			return null;
		}
		catch (DataAccessException ex) {
			return this.description.notCreated(script, ex);
		}
	}

	private boolean isWanted() {
		return switch (this.description.initializeSchema()) {
			case ALWAYS -> true;
			case EMBEDDED -> this.table.isEmbedded();
			case NEVER -> false;
		};
	}

	private @Nullable FenceTableException unreadable() {
		try {
			this.table.require();
			return null;
		}
		catch (FenceTableException ex) {
			return ex;
		}
	}

}
