// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import org.springframework.stereotype.Component;

/**
 * Sells under a lock of this JVM, which does not exclude other instances.
 */
@Component
class SynchronizedDeduction implements DeductionStrategy {

	private final UnlockedDeduction unlocked;

	private final Object monitor = new Object();

	SynchronizedDeduction(UnlockedDeduction unlocked) {
		this.unlocked = unlocked;
	}

	/**
	 * Not transactional itself, because the commit must happen inside the synchronized
	 * block.
	 */
	@Override
	public int deduct(long productId, int count) {
		synchronized (this.monitor) {
			return this.unlocked.deduct(productId, count);
		}
	}

	@Override
	public String name() {
		return "synchronized";
	}

	@Override
	public String description() {
		return "A synchronized block around the transaction: correct in one instance, oversells with two";
	}

}
