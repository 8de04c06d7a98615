// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseContext;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionAwareLockRegistry;

/**
 * Lets no transaction commit after a lock of its thread was lost: it is rolled back, and
 * the caller gets a {@link LockLostException}. Locks taken by annotated methods, by
 * {@link LockTemplate} and from a {@link TransactionAwareLockRegistry} are checked,
 * except with {@link OnLost#LOG}.
 *
 * <p>
 * Auto-configuration adds it to all transaction managers. The check asks no store: it
 * knows what the renewal has noticed so far, and whether the lease has run out. A loss
 * during the commit itself is only covered by the {@linkplain Lease#fencingToken()
 * fencing token}.
 *
 * @see org.springframework.transaction.ConfigurableTransactionManager#addListener
 */
public final class LockCommitGuard implements TransactionExecutionListener {

	/**
	 * Forget locks whose fixed lease time was over before the transaction.
	 */
	@Override
	public void beforeBegin(TransactionExecution transaction) {
		boolean suspending = transaction instanceof DefaultTransactionStatus status
				&& status.getSuspendedResources() != null;
		if (!suspending && !transaction.isNested()) {
			LeaseContext.forgetExpired();
		}
	}

	/**
	 * Do nothing if all locks of the thread are held.
	 * @throws LockLostException if one was lost
	 */
	@Override
	public void beforeCommit(TransactionExecution transaction) {
		LeaseContext.ensureAllHeld();
	}

}
