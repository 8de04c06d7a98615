// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import javax.sql.DataSource;

import io.github.lockstarter.store.Rule;

/**
 * Settings of fenced transactions.
 *
 * @param transactions whether all transactions under locks claim fencing tokens, unless
 * an annotation or a template says otherwise
 * @param registryIn returns the name of the registry that keeps its locks in a
 * {@link DataSource}, if there is one: transactions under these locks claim even if not
 * all do
 * @param table the name of the table in each database, with its schema if the database
 * needs it
 * @param retention how long the last token of an idle lock is kept; longer than any
 * transaction may be late
 * @param exclude the names of transaction managers whose transactions are not fenced
 */
public record FencingSettings(boolean transactions, Function<DataSource, Optional<String>> registryIn, String table,
		Duration retention, Set<String> exclude) {

	/**
	 * Fences only the transactions of annotations and templates that say so.
	 */
	public static final FencingSettings DEFAULTS = new FencingSettings(false, (dataSource) -> Optional.empty(),
			FenceTable.DEFAULT_NAME, Duration.ofDays(1), Set.of());

	public FencingSettings {
		Rule.POSITIVE.require("retention", retention);
		exclude = Set.copyOf(exclude);
	}

	/**
	 * Return whether transactions of a {@link DataSource} claim where neither an
	 * annotation nor a template says so.
	 */
	boolean isFenced(DataSource dataSource) {
		return this.transactions || this.registryIn.apply(dataSource).isPresent();
	}

	/**
	 * Return whether they do under locks of a registry.
	 */
	boolean isFenced(DataSource dataSource, String registry) {
		return this.transactions || this.registryIn.apply(dataSource).filter(registry::equals).isPresent();
	}

	/**
	 * Return these settings with all transactions fenced.
	 */
	public FencingSettings withTransactions() {
		return new FencingSettings(true, this.registryIn, this.table, this.retention, this.exclude);
	}

}
