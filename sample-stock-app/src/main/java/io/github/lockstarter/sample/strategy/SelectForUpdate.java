// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * {@code SELECT ... FOR UPDATE} locks the row before it is read, until the transaction
 * ends. Right as long as all that is protected is in one database. Each waiting customer
 * occupies a connection and a transaction, and waits as long as the database allows.
 */
@Component("select-for-update")
class SelectForUpdate implements DeductionStrategy {

	private final JdbcClient jdbc;

	private final NoLock sale;

	SelectForUpdate(JdbcClient jdbc, NoLock sale) {
		this.jdbc = jdbc;
		this.sale = sale;
	}

	/** The inner transaction takes part in this one. */
	@Override
	@Transactional
	public int deduct(long productId, int count) {
		this.jdbc.sql("select count from mall_stock where product_id = ? for update")
			.param(productId)
			.query(Integer.class)
			.optional();
		return this.sale.deduct(productId, count);
	}

}
