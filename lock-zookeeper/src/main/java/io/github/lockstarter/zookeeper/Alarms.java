// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Alarms on the timer of the JDK, which needs no thread of this store.
 */
final class Alarms {

	private Alarms() {
	}

	/**
	 * Return a stage that is completed after some time, unless it is cancelled.
	 */
	@SuppressWarnings("NullAway") // a stage without a result has null
	static CompletableFuture<Void> after(long time, TimeUnit unit) {
		return new CompletableFuture<Void>().completeOnTimeout(null, Math.max(1, time), unit);
	}

}
