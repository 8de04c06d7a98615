// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.database;

import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Patience;
import io.github.lockstarter.sample.stock.SoldOutException;
import io.github.lockstarter.sample.stock.StockRepository;

/**
 * Writes only if the version of the row is still the one that was read, and starts again
 * otherwise. Right, and cheap if customers rarely meet. If many want one product, most of
 * the work is done in vain, and those who are unlucky too often get nothing. Counts the
 * failed attempts.
 */
@Component("optimistic-version")
class OptimisticVersion implements DeductionStrategy {

	private final StockRepository stocks;

	private final TransactionOperations transactions;

	OptimisticVersion(StockRepository stocks, TransactionOperations transactions) {
		this.stocks = stocks;
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
				this.stocks.addFailedAttempts(productId, failed);
			}
		}
	}

	/** Return {@code null} if somebody else was faster. */
	private @Nullable Integer attempt(long productId, int count) {
		long version = this.stocks.getVersion(productId);
		int remaining = this.stocks.getCount(productId) - count;
		if (remaining < 0) {
			throw new SoldOutException(productId);
		}
		if (!this.stocks.updateCountOfVersion(productId, remaining, version)) {
			return null;
		}
		this.stocks.insertOrder(productId, count);
		return remaining;
	}

}
