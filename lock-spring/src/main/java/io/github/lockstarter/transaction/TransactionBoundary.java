// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.function.IntConsumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Where a lock that is taken inside a transaction meets the end of that transaction.
 */
final class TransactionBoundary {

	/** Whether there can be transactions at all; no other member may be used if not. */
	static final boolean PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			TransactionBoundary.class.getClassLoader());

	private static final Log logger = LogFactory.getLog(TransactionBoundary.class);

	private TransactionBoundary() {
	}

	/**
	 * Return whether a lock that is about to be taken has to be kept until the end of a
	 * transaction.
	 * @throws IllegalStateException if it must not be taken
	 */
	static boolean defersRelease(LockKey key, OnActiveTransaction policy) {
		if (!isActive()) {
			return false;
		}
		return switch (policy) {
			case DEFAULT, DEFER -> true;
			case FAIL -> throw new IllegalStateException("Lock '" + key + "' must not be taken inside the transaction '"
					+ TransactionSynchronizationManager.getCurrentTransactionName()
					+ "', which would commit after the lock is given back; nothing was executed. Take the lock before"
					+ " the transaction begins, or choose OnActiveTransaction.DEFER");
			case RELEASE_ON_RETURN -> {
				logger.warn("Lock '" + key + "' is given back before the transaction '"
						+ TransactionSynchronizationManager.getCurrentTransactionName()
						+ "' commits: the next owner may not see what was written under it");
				yield false;
			}
		};
	}

	/**
	 * Return whether the current thread is inside the scope of a transaction, even if the
	 * transaction is suspended.
	 */
	static boolean isAround() {
		return TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * Return whether the current thread is inside a transaction.
	 */
	static boolean isActive() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * Give a lease back when the current transaction is completed.
	 */
	static void endAfterCompletion(LeaseContext.Scope scope) {
		whenCompleted((status) -> end(scope, status));
	}

	/**
	 * Do something when the current transaction is completed.
	 * @param action takes the outcome of the transaction
	 */
	static void whenCompleted(IntConsumer action) {
		TransactionSynchronizationManager.registerSynchronization(new Completion(action));
	}

	/**
	 * Give a lease back whose transaction is completed.
	 */
	static void end(LeaseContext.Scope scope, int status) {
		scope.close();
		try {
			if (status != TransactionSynchronization.STATUS_COMMITTED) {
				scope.lease().holdAtLeast(Duration.ZERO);
			}
			scope.lease().close();
		}
		catch (LockLostException ex) {
			if (status != TransactionSynchronization.STATUS_ROLLED_BACK) {
				logger.warn("The lock was lost while its transaction was completed", ex);
			}
		}
	}

	private record Completion(IntConsumer action) implements TransactionSynchronization {

		@Override
		public void afterCompletion(int status) {
			this.action.accept(status);
		}

	}

}
