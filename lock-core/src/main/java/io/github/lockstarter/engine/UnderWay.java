// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the releases and withdrawals that are under way, because the end of a registry
 * waits for their answers.
 */
final class UnderWay {

	private static final long LONGEST_ANSWER = TimeUnit.SECONDS.toNanos(3);

	private final Time time;

	private final AtomicInteger count = new AtomicInteger();

	private final Emptiness emptiness;

	UnderWay(Time time) {
		this.time = time;
		this.emptiness = new Emptiness(time, () -> this.count.get() == 0);
	}

	void begin() {
		this.count.incrementAndGet();
	}

	void end() {
		if (this.count.decrementAndGet() == 0) {
			this.emptiness.check();
		}
	}

	int count() {
		return this.count.get();
	}

	/**
	 * Wait until nothing is under way, for as long as a store may take.
	 */
	void awaitNone() {
		this.emptiness.await(this.time.now() + LONGEST_ANSWER);
	}

}
