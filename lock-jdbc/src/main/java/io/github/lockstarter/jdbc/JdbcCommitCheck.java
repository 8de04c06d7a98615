// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.CommitCheck;
import io.github.lockstarter.store.OwnerToken;

/**
 * Makes sure that a transaction of the application does not commit after another owner
 * has acquired its lock, if both are in the same database. It locks the row of the lock
 * until the transaction ends. Another owner that takes the lock over, because the lease
 * has expired, waits until then; and if it came first, this check finds the owner gone.
 * So neither clocks nor leases matter.
 *
 * <p>
 * Renewals of the lock wait for the end of the transaction, too. The check is not the
 * last statement of the transaction: JPA writes its changes later, during the commit.
 */
final class JdbcCommitCheck implements CommitCheck {

	private final DataSource transactions;

	private final LockDatabase database;

	/**
	 * Create a check.
	 * @param transactions the connections of the transactions
	 */
	JdbcCommitCheck(DataSource transactions, LockDatabase database) {
		this.transactions = LockDatabase.withoutTransactions(transactions);
		this.database = database;
	}

	@Override
	public boolean isHeld(LockKey key, OwnerToken owner) {
		// A database refuses to lock a row in a transaction that only reads
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly() || !(TransactionSynchronizationManager
			.getResource(this.transactions) instanceof ConnectionHolder holder) || !isCommitting(holder)) {
			return true;
		}
		try {
			return isHeld(holder.getConnection(), key, owner);
		}
		catch (SQLException ex) {
			throw this.database.failure(ex);
		}
	}

	@Override
	public String order(LockKey key) {
		return RowKey.of(key);
	}

	/**
	 * Return whether the transaction that commits is the one of a connection. A
	 * transaction of another kind, or a savepoint, may end within it: to lock the row
	 * then would block renewals until the outer one ends.
	 */
	private static boolean isCommitting(ConnectionHolder holder) {
		Object execution = TransactionSynchronizationManager.getResource(TransactionExecution.class);
		if (execution == null) {
			// A caller other than LockCommitGuard knows which transaction commits
			return true;
		}
		return execution instanceof DefaultTransactionStatus status && !status.hasSavepoint() && status.hasTransaction()
				&& status.getTransaction() instanceof JdbcTransactionObjectSupport own && own.hasConnectionHolder()
				&& own.getConnectionHolder() == holder;
	}

	/**
	 * Check a lock in the transaction of a connection, and lock its row.
	 */
	boolean isHeld(Connection connection, LockKey key, OwnerToken owner) throws SQLException {
		boolean reader = owner.mode() == LockMode.READ;
		Boolean held = this.database.session(connection)
			.first(this.database.sql(connection).selectOwned(reader),
					(row) -> !reader || Readers.read(row.getString(1)).contains(owner), RowKey.of(key),
					reader ? LockRow.SHARED : owner.value());
		return held != null && held;
	}

}
