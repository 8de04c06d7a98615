// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * The table for claims of fencing tokens does not exist, or cannot keep them.
 */
public class FenceTableException extends InvalidDataAccessResourceUsageException {

	/**
	 * Create an exception.
	 * @param table the name of the table
	 * @param cause what it lacks, or the refusal of the database
	 */
	public FenceTableException(String table, Exception cause) {
		super("Transactions cannot claim fencing tokens in the table '" + table + "' (" + cause.getMessage()
				+ "): create it with the script for your database in"
				+ " io/github/lockstarter/fencing of lock-spring, and grant the user select, insert, update and delete"
				+ " on it", cause);
	}

}
