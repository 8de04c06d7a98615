// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.library;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import io.github.lockstarter.sample.stock.BusyException;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * A sale under a lock of another library.
 */
abstract class LibraryLock implements DeductionStrategy {

	private static final Duration WAIT_TIME = Duration.ofSeconds(10);

	private final Sales sales;

	LibraryLock(Sales sales) {
		this.sales = sales;
	}

	@Override
	public int deduct(long productId, int count) {
		Lock lock = lock("stock:" + productId);
		try {
			if (!lock.tryLock(WAIT_TIME.toMillis(), TimeUnit.MILLISECONDS)) {
				throw new BusyException(productId);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BusyException(productId);
		}
		try {
			return this.sales.sell(productId, count);
		}
		finally {
			lock.unlock();
		}
	}

	abstract Lock lock(String key);

}
