// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * The time of candidates, and their random pauses.
 */
interface Time {

	Time REAL = new Time() {

		@Override
		public long now() {
			return System.nanoTime();
		}

		@Override
		public Executor after(long meanPause) {
			long pause = ThreadLocalRandom.current().nextLong(meanPause / 2, meanPause * 3 / 2);
			return CompletableFuture.delayedExecutor(pause, TimeUnit.NANOSECONDS, Runnable::run);
		}

	};

	long now();

	/**
	 * Return an executor that runs an action after a random pause, and does not block.
	 * @param meanPause the mean of the pause, in nanoseconds
	 */
	Executor after(long meanPause);

}
