// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import javax.sql.DataSource;

import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.lockstarter.faults.worker.Transactions.Moment;
import io.github.lockstarter.fencing.FenceTable;
import io.github.lockstarter.fencing.TransactionFence;
import io.github.lockstarter.transaction.LockCommitGuard;

/**
 * What protects the transactions of an application, as the starter sets it up. The locks
 * of others have nothing of the kind.
 *
 * @param competitor whose locks are in use
 * @param inDatabaseOfLocks whether the transactions are in the database that keeps them
 */
record TransactionGuards(Competitor competitor, boolean inDatabaseOfLocks) {

	void addTo(JdbcTransactionManager manager, DataSource database) {
		if (this.competitor.isOurs()) {
			manager.addListener(new LockCommitGuard());
		}
		if (this.competitor.protectsTransactions()) {
			manager.addListener(new TransactionFence(manager, new FenceTable(database)));
		}
	}

	/**
	 * Return whether renewals of a lock wait from a moment on until the transaction ends,
	 * because it has locked the row of the lock. It must not last as long as a lease
	 * then.
	 */
	boolean delayRenewals(Moment moment) {
		return moment == Moment.BEFORE_COMMIT && this.inDatabaseOfLocks && this.competitor.isOurs();
	}

}
