// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnLost;

/**
 * Rolls back a transaction if a lock of its thread was lost before the commit; the caller
 * gets a {@link LockLostException}. It checks the locks of annotated methods, of
 * {@link LockTemplate} and of a {@link TransactionAwareLockRegistry}, except with
 * {@link OnLost#LOG}. It also lets a transaction hold the locks under which it begins
 * until its completion, wherever they are closed.
 *
 * <p>
 * Auto-configuration and {@code @EnableDistributedLocks} add it to all transaction
 * managers. A template over another registry is not checked. The check notices an expired
 * lease, and any loss that a renewal has detected so far. No store is asked, so only the
 * {@linkplain Lease#fencingToken() fencing token} covers a loss that this JVM does not
 * know of; fenced transactions claim it.
 *
 * @see org.springframework.transaction.ConfigurableTransactionManager#addListener
 */
public final class LockCommitGuard implements TransactionExecutionListener {

	/**
	 * Forget locks whose registry was closed, or whose fixed lease time ended, before the
	 * transaction.
	 */
	@Override
	public void beforeBegin(TransactionExecution transaction) {
		boolean suspending = transaction instanceof DefaultTransactionStatus status
				&& status.getSuspendedResources() != null;
		if (!suspending && !transaction.isNested()) {
			LeasesOfThread.forgetExpired();
		}
	}

	/**
	 * Let the transaction hold the locks under which it begins until its completion.
	 */
	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		if (beginFailure == null && transaction.isNewTransaction()
				&& TransactionSynchronizationManager.isSynchronizationActive()) {
			LeasesOfThread.cover();
		}
	}

	/**
	 * Check that all locks of the thread are held.
	 * @throws LockLostException if one was lost
	 */
	@Override
	public void beforeCommit(TransactionExecution transaction) {
		LeasesOfThread.ensureAllHeld();
	}

}
