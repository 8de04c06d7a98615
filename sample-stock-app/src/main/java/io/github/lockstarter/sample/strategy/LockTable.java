// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * A row in a hand-written table is the lock: whoever inserts its key owns it, and deletes
 * it afterwards. A crash leaves the row behind, and nobody can buy any more until
 * somebody deletes it by hand. An end of the row by time would need all that a lease
 * needs.
 */
@Component("lock-table")
class LockTable implements DeductionStrategy {

	private final JdbcClient jdbc;

	private final NoLock sale;

	LockTable(JdbcClient jdbc, NoLock sale) {
		this.jdbc = jdbc;
		this.sale = sale;
	}

	@Override
	public int deduct(long productId, int count) {
		Patience patience = new Patience(productId);
		while (!tryLock(productId)) {
			patience.pause();
		}
		try {
			return this.sale.deduct(productId, count);
		}
		finally {
			this.jdbc.sql("delete from sale_lock where product_id = ?").param(productId).update();
		}
	}

	private boolean tryLock(long productId) {
		try {
			this.jdbc.sql("insert into sale_lock values (?)").param(productId).update();
			return true;
		}
		catch (DuplicateKeyException ex) {
			return false;
		}
	}

}
