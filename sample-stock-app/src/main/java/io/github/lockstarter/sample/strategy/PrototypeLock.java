// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.util.concurrent.locks.ReentrantLock;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.annotation.Scope;
import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * A {@link ReentrantLock} in a bean with prototype scope, by mistake: each call gets a
 * bean and a lock of its own, which nobody else wants. Wrong in one instance already.
 */
@Component("reentrant-lock-prototype")
class PrototypeLock implements DeductionStrategy {

	private final ObjectProvider<LockedSales> lockedSales;

	PrototypeLock(ObjectProvider<LockedSales> lockedSales) {
		this.lockedSales = lockedSales;
	}

	@Override
	public int deduct(long productId, int count) {
		return this.lockedSales.getObject().sell(productId, count);
	}

	@Component
	@Scope(ConfigurableBeanFactory.SCOPE_PROTOTYPE)
	static class LockedSales {

		private final ReentrantLock lock = new ReentrantLock();

		private final NoLock sale;

		LockedSales(NoLock sale) {
			this.sale = sale;
		}

		int sell(long productId, int count) {
			this.lock.lock();
			try {
				return this.sale.deduct(productId, count);
			}
			finally {
				this.lock.unlock();
			}
		}

	}

}
