// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.time.Duration;
import java.util.Set;

/**
 * Settings of fenced transactions.
 *
 * @param transactions whether transactions under locks claim fencing tokens, unless an
 * annotation or a template says otherwise
 * @param table the name of the table in each database, with its schema if the database
 * needs it
 * @param retention how long the last token of an idle lock is kept; longer than any
 * transaction may be late
 * @param exclude the names of transaction managers whose transactions are not fenced
 */
public record FencingSettings(boolean transactions, String table, Duration retention, Set<String> exclude) {

	/**
	 * Fences only the transactions of annotations and templates that say so.
	 */
	public static final FencingSettings DEFAULTS = new FencingSettings(false, FenceTable.DEFAULT_NAME,
			Duration.ofDays(1), Set.of());

	public FencingSettings {
		if (retention.isNegative() || retention.isZero()) {
			throw new IllegalArgumentException("'retention' must be positive, but was " + retention);
		}
		exclude = Set.copyOf(exclude);
	}

	/**
	 * Return these settings with fenced transactions.
	 */
	public FencingSettings withTransactions() {
		return new FencingSettings(true, this.table, this.retention, this.exclude);
	}

}
