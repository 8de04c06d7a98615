// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.function.BiFunction;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;

/**
 * A table for locks, and how it is created.
 *
 * @param name the name of the table
 * @param nameInScripts its name in the scripts
 * @param columns some of its columns
 * @param purpose what the table is for
 * @param consequence what happens without it
 * @param scripts where the scripts are
 * @param prefix beginning of the names of its properties
 * @param initializeSchema when to create it
 * @param schema location of the script
 * @param platform platform in the location of the script
 * @param failure creates the exception for a problem and its remedy
 */
record TableDescription(String name, String nameInScripts, String columns, String purpose, String consequence,
		String scripts, String prefix, JdbcLockProperties.SchemaInitialization initializeSchema, String schema,
		String platform, BiFunction<String, String, RuntimeException> failure) {

	private static final Log logger = LogFactory.getLog(TableDescription.class);

	private static final String PLATFORM = "@@platform@@";

	/**
	 * Return the table of the locks.
	 */
	static TableDescription of(String name, JdbcLockProperties jdbc) {
		return new TableDescription(name, "distributed_lock", "lock_key, owner", "the locks", "No lock is granted",
				"io/github/lockstarter/jdbc of lock-jdbc", "jdbc", jdbc.initializeSchema(), jdbc.schema(),
				jdbc.platform(), LockStoreNotFoundException::new);
	}

	/**
	 * Return the name of a property of this table.
	 */
	String property(String property) {
		return "distributed-lock." + this.prefix + "." + property;
	}

	/**
	 * Return whether the database determines which script creates the table.
	 */
	boolean asksForPlatform() {
		return this.platform.equals(Property.AUTO);
	}

	/**
	 * Return the location of the script.
	 * @param asked the platform of the database, if it has to be asked
	 */
	String location(String asked) {
		return this.schema.replace(PLATFORM, asksForPlatform() ? asked : this.platform);
	}

	/**
	 * Return a script with the name of this table.
	 */
	Resource adapt(Resource script) throws IOException {
		if (!script.exists()) {
			throw failure("There is no script for the table of " + this.purpose + ": " + script.getDescription(),
					"set " + property("platform") + " to h2, mariadb, mysql, postgresql or generic, or "
							+ property("schema") + " to the location of a script of your own");
		}
		String sql = script.getContentAsString(StandardCharsets.UTF_8).replace(this.nameInScripts, this.name);
		return new ByteArrayResource(sql.getBytes(StandardCharsets.UTF_8), script.getDescription());
	}

	/**
	 * Warn that it is not known whether the table exists, or refuse to go on if it was to
	 * be created.
	 */
	void unknown(Exception reason) {
		String unknown = "The database of " + this.purpose + " cannot be asked ("
				+ NestedExceptionUtils.getMostSpecificCause(reason).getMessage() + ")";
		if (this.initializeSchema == JdbcLockProperties.SchemaInitialization.ALWAYS) {
			throw failure(unknown + ", so the table '" + this.name + "' cannot be created",
					"correct the address, the username and the password of the database, start the database first, or"
							+ " remove " + property("initialize-schema=always")
							+ " and create the table with a migration");
		}
		logger.warn(unknown + ". " + this.consequence + " until it can be, and has the table '" + this.name + "'");
	}

	/**
	 * Return the exception for a script that failed.
	 */
	RuntimeException notCreated(Resource script, Exception reason) {
		return failure(
				"The script for the table '" + this.name + "' of " + this.purpose + ", " + script.getDescription()
						+ ", failed (" + NestedExceptionUtils.getMostSpecificCause(reason).getMessage() + ")",
				"choose the script of your database with " + property("platform") + ", name a script of your own in "
						+ property("schema") + ", grant the user create, or create the table with a migration");
	}

	/**
	 * Return the exception for a table that is missing.
	 * @param url the address of the database, or {@code null} if it has none
	 * @param reason why the table cannot be read
	 */
	RuntimeException missing(@Nullable String url, @Nullable String reason) {
		String action = "create the table with the script for your database in " + this.scripts
				+ ", and grant the user select, insert, update and delete on it";
		return failure(
				"The database" + ((url != null) ? " '" + DatabaseAddress.withoutSecrets(url) + "'" : "")
						+ " has no table '" + this.name + "' for " + this.purpose + ", or the user may not read it ("
						+ reason + ")",
				(this.initializeSchema == JdbcLockProperties.SchemaInitialization.ALWAYS) ? action
						: action + ", or set " + property("initialize-schema=always"));
	}

	private RuntimeException failure(String problem, String remedy) {
		return this.failure.apply(problem, remedy);
	}

}
