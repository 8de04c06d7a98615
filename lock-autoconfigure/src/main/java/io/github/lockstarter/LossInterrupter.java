// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread that runs a body when its lease is lost: at most once, and never
 * after the body was left.
 */
final class LossInterrupter implements AutoCloseable {

	private final Thread thread;

	private boolean left;

	private @Nullable LockLostException loss;

	LossInterrupter(Thread thread) {
		this.thread = thread;
	}

	synchronized void interrupt(LockLostException loss) {
		if (!this.left && this.loss == null) {
			this.loss = loss;
			this.thread.interrupt();
		}
	}

	/**
	 * Return the loss for which the body was interrupted, if it was.
	 */
	synchronized @Nullable LockLostException getLoss() {
		return this.loss;
	}

	/**
	 * Leave the body, taking back an interrupt that it has not noticed.
	 */
	@Override
	public synchronized void close() {
		this.left = true;
		if (this.loss != null) {
			Thread.interrupted();
		}
	}

}
