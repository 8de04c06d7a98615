// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import javax.sql.DataSource;

import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.lockstarter.transaction.FenceTable;
import io.github.lockstarter.transaction.TransactionFence;
import io.github.lockstarter.transaction.LockCommitGuard;

/**
 * What protects the transactions of an application, as the starter sets it up. The locks
 * of others have nothing of the kind.
 *
 * @param competitor whose locks are in use
 */
record TransactionGuards(Competitor competitor) {

	void addTo(JdbcTransactionManager manager, DataSource database) {
		if (this.competitor.isOurs()) {
			manager.addListener(new LockCommitGuard());
		}
		if (this.competitor.protectsTransactions()) {
			manager.addListener(new TransactionFence(manager, new FenceTable(database)));
		}
	}

}
