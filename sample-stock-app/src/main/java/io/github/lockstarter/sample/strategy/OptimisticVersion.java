// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.StockRepository;
import io.github.lockstarter.sample.stock.WriteDelay;

/**
 * Writes only if the version of the row is still the one that was read, and starts again
 * otherwise. Right, and cheap if customers rarely meet. If many want one product, most of
 * the work is done in vain, and those who are unlucky too often get nothing. Counts the
 * failed attempts.
 */
@Component("optimistic-version")
class OptimisticVersion implements DeductionStrategy {

	private final JdbcClient jdbc;

	private final StockRepository stocks;

	private final WriteDelay writeDelay;

	private final TransactionOperations transactions;

	OptimisticVersion(JdbcClient jdbc, StockRepository stocks, WriteDelay writeDelay,
			TransactionOperations transactions) {
		this.jdbc = jdbc;
		this.stocks = stocks;
		this.writeDelay = writeDelay;
		this.transactions = transactions;
	}

	@Override
	public int deduct(long productId, int count) {
		Patience patience = new Patience(productId);
		int failed = 0;
		try {
			while (true) {
				Integer remaining = this.transactions.execute((transaction) -> attempt(productId, count));
				if (remaining != null) {
					return remaining;
				}
				failed++;
				patience.pause();
			}
		}
		finally {
			if (failed > 0) {
				// Apart from the transactions, which may roll back
				this.jdbc.sql("update failed_attempts set attempts = attempts + ? where product_id = ?")
					.params(failed, productId)
					.update();
			}
		}
	}

	/** Return {@code null} if somebody else was faster. */
	private @Nullable Integer attempt(long productId, int count) {
		Row row = this.jdbc.sql("select version, count from mall_stock where product_id = ?")
			.param(productId)
			.query(Row.class)
			.optional()
			.orElseThrow(() -> new UnknownProductException(productId));
		int remaining = row.count - count;
		if (remaining < 0) {
			throw new SoldOutException(productId);
		}
		this.writeDelay.await(productId);
		int updated = this.jdbc
			.sql("update mall_stock set count = ?, version = version + 1 where product_id = ? and version = ?")
			.params(remaining, productId, row.version)
			.update();
		if (updated == 0) {
			return null;
		}
		this.stocks.insertOrder(productId, count);
		return remaining;
	}

	private record Row(long version, int count) {
	}

}
