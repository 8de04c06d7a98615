// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

/**
 * The counterpart of {@link FenceTablePreparation} for reactive transactions. Declare a
 * bean of this type to create the table; without one, it is only looked at.
 */
@FunctionalInterface
public interface R2dbcFenceTablePreparation {

	/**
	 * Prepare a table.
	 * @param table the table
	 * @throws RuntimeException if the table is missing and cannot be created
	 */
	void prepare(R2dbcFenceTable table);

}
