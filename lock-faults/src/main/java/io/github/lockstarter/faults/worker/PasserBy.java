// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import io.github.lockstarter.faults.worker.LockClient.Held;

/**
 * A caller that requests other locks than the workers, on any node, and soon gives up.
 */
final class PasserBy {

	private static final int LOCKS = 10_000;

	private static final Duration WAIT_TIME = Duration.ofMillis(100);

	private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(200);

	private final LockClient client;

	private final String key;

	/**
	 * Create a caller.
	 * @param key prefix of the names of its locks
	 */
	PasserBy(LockClient client, String key) {
		this.client = client;
		this.key = key;
	}

	/**
	 * Request one lock after another.
	 */
	void run(AtomicBoolean stopped) {
		while (!stopped.get()) {
			try {
				Held held = this.client.tryLock(this.key + "-" + ThreadLocalRandom.current().nextInt(LOCKS), WAIT_TIME);
				if (held != null) {
					held.unlock();
				}
			}
			catch (InterruptedException | RuntimeException ex) {
				// Only the effect on other callers matters
			}
			LockSupport.parkNanos(PAUSE);
		}
	}

}
