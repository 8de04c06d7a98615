// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import org.springframework.stereotype.Component;

/**
 * Sells under a lock of this JVM, which another instance knows nothing of.
 */
@Component
class SynchronizedDeduction implements DeductionStrategy {

	private final UnlockedDeduction unlocked;

	private final Object monitor = new Object();

	SynchronizedDeduction(UnlockedDeduction unlocked) {
		this.unlocked = unlocked;
	}

	/**
	 * Not transactional itself: the commit has to happen inside the synchronized block.
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
