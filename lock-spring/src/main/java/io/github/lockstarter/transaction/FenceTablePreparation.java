// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

/**
 * Makes sure at the start of an application that a table of claims exists. Declare a bean
 * of this type to create the table; without one, it is only looked at.
 */
@FunctionalInterface
public interface FenceTablePreparation {

	/**
	 * Prepare a table.
	 * @param table the table
	 * @throws RuntimeException if the table is missing and cannot be created
	 */
	void prepare(FenceTable table);

}
