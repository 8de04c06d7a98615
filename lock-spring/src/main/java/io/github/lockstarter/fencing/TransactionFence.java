// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.LeaseContext;
import io.github.lockstarter.LockLostException;

/**
 * Lets each transaction that runs under a lock claim the lock's
 * {@linkplain io.github.lockstarter.Lease#fencingToken() fencing token} in its own
 * database, before it reads anything. A later owner waits until the transaction has
 * ended, and a transaction is refused if a later owner has claimed before it, whatever
 * happens to leases and clocks.
 *
 * <p>
 * A refused transaction is rolled back before its body begins, and the caller gets a
 * {@link LockLostException}. Transactions that only read claim nothing, and nested ones
 * are covered by the outer one. A lock that is acquired inside a transaction is claimed
 * at its acquisition. A reader ({@link io.github.lockstarter.LockMode#READ}) cannot
 * claim, so its transaction may only read. If the lock's store keeps it in the same
 * database, the transaction looks at the lock itself when it begins, and the store checks
 * it again at the commit.
 *
 * <p>
 * The idea is that of the fencing tokens in Martin Kleppmann's <a href=
 * "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">How to do
 * distributed locking</a>, with the database as the resource that remembers the largest
 * token.
 */
public final class TransactionFence implements TransactionExecutionListener {

	private final AbstractPlatformTransactionManager manager;

	private final FenceTable table;

	private final boolean byDefault;

	/**
	 * Create a fence for all transactions under locks, except where
	 * {@link io.github.lockstarter.TransactionFencing#OFF} says otherwise.
	 * @param manager the manager to add this listener to
	 * @param table the table in the database of the manager's transactions
	 */
	public TransactionFence(AbstractPlatformTransactionManager manager, FenceTable table) {
		this(manager, table, true);
	}

	/**
	 * Create a fence.
	 * @param manager the manager to add this listener to
	 * @param table the table in the database of the manager's transactions
	 * @param byDefault whether transactions claim where neither an annotation nor a
	 * template says so
	 */
	public TransactionFence(AbstractPlatformTransactionManager manager, FenceTable table, boolean byDefault) {
		this.manager = manager;
		this.table = table;
		this.byDefault = byDefault;
	}

	@Override
	public void afterBegin(TransactionExecution execution, @Nullable Throwable beginFailure) {
		if (beginFailure != null || execution.isReadOnly() || !execution.isNewTransaction()) {
			return;
		}
		DefaultTransactionStatus status = (DefaultTransactionStatus) execution;
		FencedTransaction transaction = new FencedTransaction(this, status);
		this.table.open().add(transaction);
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(transaction);
		}
		try {
			transaction.begin(LeaseContext.fenced(this.byDefault));
		}
		catch (Throwable ex) {
			this.table.open().remove(execution);
			rollBack(status, ex);
			throw ex;
		}
	}

	/**
	 * Roll back before the body begins. The manager resumes an outer transaction itself
	 * when it gets the exception of a listener, so the status for the rollback has none.
	 */
	private void rollBack(DefaultTransactionStatus status, Throwable refusal) {
		try {
			this.manager.rollback(new DefaultTransactionStatus(status.getTransactionName(), status.getTransaction(),
					true, status.isNewSynchronization(), false, status.isReadOnly(), status.isDebug(), null));
		}
		catch (RuntimeException ex) {
			refusal.addSuppressed(ex);
		}
	}

	@Override
	public void afterCommit(TransactionExecution execution, @Nullable Throwable commitFailure) {
		this.table.open().remove(execution);
	}

	@Override
	public void afterRollback(TransactionExecution execution, @Nullable Throwable rollbackFailure) {
		this.table.open().remove(execution);
	}

	boolean isByDefault() {
		return this.byDefault;
	}

	FenceTable table() {
		return this.table;
	}

}
