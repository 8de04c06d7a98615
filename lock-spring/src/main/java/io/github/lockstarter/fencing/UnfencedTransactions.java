// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.LeaseContext;
import io.github.lockstarter.transaction.AcquisitionSynchronization;

/**
 * Refuses transactions for which an annotation or a template asks for a fence, for a
 * manager whose transactions cannot have one.
 */
final class UnfencedTransactions implements TransactionExecutionListener {

	private final FencingNotPossibleException reason;

	UnfencedTransactions(FencingNotPossibleException reason) {
		this.reason = reason;
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		if (!transaction.isReadOnly()) {
			refuse();
		}
	}

	/**
	 * Refuse locks that are acquired inside the transaction as well.
	 */
	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		if (beginFailure == null && !transaction.isReadOnly() && transaction.isNewTransaction()
				&& transaction instanceof TransactionStatus
				&& TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization((AcquisitionSynchronization) this::refuse);
		}
	}

	private void refuse() {
		if (!LeaseContext.fenced(false).isEmpty()) {
			throw new FencingNotPossibleException(this.reason.getMessage() + "; " + this.reason.getRemedy(),
					this.reason.getRemedy());
		}
	}

}
