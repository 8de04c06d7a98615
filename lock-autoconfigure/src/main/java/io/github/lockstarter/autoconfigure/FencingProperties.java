// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.lockstarter.store.Rule;
import io.github.lockstarter.transaction.FencingSettings;

/**
 * Settings of fenced transactions.
 *
 * @param transactions Whether transactions that run under a lock claim its fencing token
 * in their database, so that those of late owners are refused. By default, only those
 * that run in the database that keeps their lock.
 * @param exclude Names of transaction manager beans whose transactions are not fenced.
 * @param initializeSchema When to create the table of the claims: embedded for in-memory
 * databases only.
 * @param schema Location of the script that creates the table.
 * @param platform Platform in the location of the script; auto asks the database.
 * @param table Name of the table; may begin with a schema and a dot. By default that of
 * the table of the locks, followed by _fence.
 * @param retention How long the last token of an idle lock is kept; longer than any
 * transaction may be late. At least the lease time.
 */
public record FencingProperties(@Nullable Boolean transactions, @DefaultValue Set<String> exclude,
		@DefaultValue("embedded") JdbcLockProperties.SchemaInitialization initializeSchema,
		@DefaultValue(DEFAULT_SCHEMA) String schema, @DefaultValue(PropertyChecks.AUTO) String platform,
		@Nullable String table, @DefaultValue("24h") Duration retention) {

	private static final String DEFAULT_SCHEMA = "classpath:io/github/lockstarter/fencing/schema-@@platform@@.sql";

	public FencingProperties {
		if (table != null) {
			PropertyChecks.require("fencing.table", table, Rule.TABLE);
		}
	}

	/**
	 * Return these settings.
	 * @param table the name of the table
	 * @param registryIn returns the name of the registry that keeps its locks in a
	 * DataSource
	 */
	FencingSettings settings(String table, Function<DataSource, Optional<String>> registryIn) {
		return new FencingSettings(Boolean.TRUE.equals(this.transactions),
				(this.transactions == null) ? registryIn : (none) -> Optional.empty(), table, this.retention,
				this.exclude);
	}

}
