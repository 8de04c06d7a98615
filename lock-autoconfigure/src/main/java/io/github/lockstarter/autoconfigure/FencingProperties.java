// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.Set;

import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.lockstarter.fencing.FencingSettings;

/**
 * Settings of fenced transactions.
 *
 * @param transactions Whether transactions that run under a lock claim its fencing token
 * in their database, so that those of late owners are refused.
 * @param exclude Names of transaction manager beans whose transactions are not fenced.
 * @param initializeSchema When to create the table of the claims: embedded for in-memory
 * databases only.
 * @param schema Location of the script that creates the table.
 * @param platform Platform in the location of the script; auto asks the database.
 * @param tablePrefix Beginning of the name of the table, which ends in lock_fence; may
 * begin with a schema and a dot.
 * @param retention How long the last token of an idle lock is kept; longer than any
 * transaction may be late. At least the lease time.
 */
public record FencingProperties(@DefaultValue("false") boolean transactions, @DefaultValue Set<String> exclude,
		@DefaultValue("embedded") JdbcLockProperties.SchemaInitialization initializeSchema,
		@DefaultValue(DEFAULT_SCHEMA) String schema, @DefaultValue(Property.AUTO) String platform,
		@DefaultValue("distributed_") String tablePrefix, @DefaultValue("24h") Duration retention) {

	private static final String DEFAULT_SCHEMA = "classpath:io/github/lockstarter/fencing/schema-@@platform@@.sql";

	void check(Duration leaseTime) {
		Property.requireTablePrefix("fencing.table-prefix", this.tablePrefix);
		Property.requireAtLeast("fencing.retention", this.retention, leaseTime);
	}

	FencingSettings settings() {
		return new FencingSettings(this.transactions, this.tablePrefix + "lock_fence", this.retention, this.exclude);
	}

}
