// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread that runs a body when its lock is lost: at most once, and never
 * after the end of the body.
 *
 * <p>
 * A thread does not reveal the origin of an interrupt. An interrupt before the loss, or
 * after the body threw an {@link InterruptedException}, certainly has another origin, so
 * its flag stays set.
 */
final class LossInterrupter {

	private final Thread thread = Thread.currentThread();

	private boolean left;

	private boolean interrupting;

	private @Nullable LockLostException loss;

	/**
	 * Run a body on the thread that created this object, and clear an interrupt that the
	 * body has not noticed.
	 */
	<L extends LeaseSet, T extends @Nullable Object, X extends Throwable> T run(
			LockedBody<? super L, ? extends T, ? extends X> body, L lease) throws X {
		boolean noticed = false;
		try {
			return body.run(lease);
		}
		catch (Throwable ex) {
			noticed = ex instanceof InterruptedException;
			throw ex;
		}
		finally {
			leave(noticed);
		}
	}

	synchronized void interrupt(LockLostException loss) {
		if (!this.left && this.loss == null) {
			this.loss = loss;
			this.interrupting = !this.thread.isInterrupted();
			this.thread.interrupt();
		}
	}

	/**
	 * Return the loss for which the body was interrupted, or {@code null} if it was not.
	 */
	synchronized @Nullable LockLostException getLoss() {
		return this.loss;
	}

	private synchronized void leave(boolean noticed) {
		this.left = true;
		if (this.interrupting && !noticed) {
			Thread.interrupted();
		}
	}

}
