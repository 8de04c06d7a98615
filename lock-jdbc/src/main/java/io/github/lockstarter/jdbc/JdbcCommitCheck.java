// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.CommitCheck;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.RowKey;

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
	public boolean isInTransaction() {
		return holder() != null;
	}

	@Override
	public boolean covers(Object connections) {
		return connections instanceof DataSource dataSource
				&& LockDatabase.withoutTransactions(dataSource) == this.transactions;
	}

	@Override
	public boolean isHeldAtBegin(LockKey key, OwnerToken owner) {
		ConnectionHolder holder = holder();
		return holder == null || isHeld(holder, key, owner, false);
	}

	@Override
	public boolean isHeld(LockKey key, OwnerToken owner) {
		ConnectionHolder holder = holder();
		return holder == null || isHeld(holder, key, owner, true);
	}

	/**
	 * Return the connection of the transaction, or {@code null} if the transaction is in
	 * another database, or cannot be checked.
	 */
	private @Nullable ConnectionHolder holder() {
		// A database refuses to lock a row in a transaction that only reads
		return (!TransactionSynchronizationManager.isCurrentTransactionReadOnly()
				&& TransactionSynchronizationManager.getResource(this.transactions) instanceof ConnectionHolder holder
				&& isOfTransaction(holder)) ? holder : null;
	}

	private boolean isHeld(ConnectionHolder holder, LockKey key, OwnerToken owner, boolean committing) {
		try {
			return isHeld(holder.getConnection(), key, owner, committing);
		}
		catch (SQLException ex) {
			throw failure(key, ex);
		}
	}

	private RuntimeException failure(LockKey key, SQLException ex) {
		if (!SqlErrors.isConcurrency(ex)) {
			return this.database.failure(ex);
		}
		String unchecked = "Lock '" + key + "' cannot be checked in its transaction, because ";
		return new CannotAcquireLockException(unchecked + (SqlErrors.isDeadlock(ex)
				? "the database has rolled this transaction back to end a deadlock with another one. The transaction"
						+ " may be tried again"
				: "its row has changed since the first query of the transaction. Run the transaction at READ COMMITTED,"
						+ " or set distributed-lock.jdbc.commit-check=false. If the transaction began before it acquired"
						+ " the lock, acquire the lock first"),
				ex);
	}

	@Override
	public String order(LockKey key) {
		return RowKey.of(key);
	}

	/**
	 * Return whether the transaction that is checked is the one of a connection. A
	 * transaction of another kind, or a savepoint, may end within it: to lock the row
	 * then would block renewals until the outer one ends.
	 */
	private static boolean isOfTransaction(ConnectionHolder holder) {
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
		return isHeld(connection, key, owner, true);
	}

	private boolean isHeld(Connection connection, LockKey key, OwnerToken owner, boolean committing)
			throws SQLException {
		boolean reader = owner.mode() == LockMode.READ;
		LockSql sql = this.database.sql(connection);
		Boolean held = this.database.session(connection)
			.first(committing ? sql.selectForCommit(reader) : sql.selectOwner(),
					(row) -> isOwned(row.getString(1), row.getString(2), owner), RowKey.of(key));
		if (held == null && committing && !sql.locksNewRows()
				&& connection.getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED) {
			// The row may be newer than all that the transaction sees
			throw new SQLTransactionRollbackException("The row of the lock cannot be seen", "40001");
		}
		return held != null && held;
	}

	private static boolean isOwned(@Nullable String actual, @Nullable String line, OwnerToken owner) {
		return (owner.mode() == LockMode.READ) ? LockRow.SHARED.equals(actual) && Readers.read(line).contains(owner)
				: owner.value().equals(actual);
	}

}
