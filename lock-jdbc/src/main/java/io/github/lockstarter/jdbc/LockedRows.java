// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.springframework.dao.QueryTimeoutException;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.RowKey;

/**
 * Finds out why a statement took too long: a transaction that is about to commit may have
 * locked a row for longer than a statement may take, which is no outage.
 */
final class LockedRows {

	private final LockDatabase database;

	LockedRows(LockDatabase database) {
		this.database = database;
	}

	/**
	 * Make a request for locks.
	 * @param refusal the answer if a transaction has locked one of the rows for too long
	 */
	<T> T request(Collection<LockKey> keys, T refusal, Supplier<T> request) {
		try {
			return request.get();
		}
		catch (QueryTimeoutException ex) {
			if (among(keys.stream().map(RowKey::of).collect(Collectors.toSet()), ex).isEmpty()) {
				throw ex;
			}
			return refusal;
		}
	}

	/**
	 * Return which rows are locked by a transaction.
	 * @param timeout the reason for the question, thrown if the database cannot tell
	 */
	private Set<String> among(Set<String> rowKeys, QueryTimeoutException timeout) {
		Object[] asked = rowKeys.toArray();
		try {
			return this.database.autocommit((session, sql) -> {
				if (!sql.skipsLocked()) {
					throw timeout;
				}
				Set<String> locked = new HashSet<>(
						session.all(sql.selectKeys(asked.length), (row) -> row.getString(1), asked));
				session.all(sql.selectUnlocked(asked.length), (row) -> row.getString(7), asked).forEach(locked::remove);
				return locked;
			});
		}
		catch (RuntimeException ex) {
			if (ex != timeout) {
				timeout.addSuppressed(ex);
			}
			throw timeout;
		}
	}

}
