// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.backend.ReleaseOutcome;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;

/**
 * The way out of a lock: stop renewing, give back to the store, pass the turn on.
 */
final class LeaseRelease {

	private static final Log logger = LogFactory.getLog(LeaseRelease.class);

	private final LockBackend backend;

	private final LeaseWatchdog watchdog;

	private final LeaseReturns returns;

	private final StoreQueue queue;

	private final LossNotice notice;

	private final LockListener listener;

	LeaseRelease(LockBackend backend, LeaseWatchdog watchdog, LeaseReturns returns, StoreQueue queue, LossNotice notice,
			LockListener listener) {
		this.backend = backend;
		this.watchdog = watchdog;
		this.returns = returns;
		this.queue = queue;
		this.notice = notice;
		this.listener = listener;
	}

	/**
	 * Leave one level of a hold, and the lock with the last one.
	 * @throws io.github.lockstarter.LockLostException if the lock was lost before
	 */
	void exit(Hold hold) {
		if (hold.entry().exit(hold)) {
			release(hold);
		}
		if (hold.tenure().isLost()) {
			throw hold.tenure().loss();
		}
	}

	private void release(Hold hold) {
		Tenure tenure = hold.tenure();
		boolean releasedToWaiter = false;
		try {
			if (tenure.release()) {
				this.watchdog.forget(tenure);
				releasedToWaiter = giveBack(tenure, hold.entry().hasWaiters());
			}
			else {
				this.watchdog.expire(tenure);
			}
		}
		finally {
			this.queue.passOn(hold.entry(), releasedToWaiter, releasedToWaiter ? Turn.AWAIT : Turn.ASK);
		}
		if (!tenure.isLost()) {
			this.listener.onEvent(new LockEvent.Released(tenure.key(), tenure.fencingToken(),
					Duration.ofNanos(System.nanoTime() - hold.since())));
		}
	}

	/**
	 * Give back to the store.
	 * @return whether this JVM stands in the queue of the store now, behind another
	 */
	private boolean giveBack(Tenure tenure, boolean queue) {
		// Drivers refuse to wait for an answer on an interrupted thread
		boolean interrupted = Thread.interrupted();
		try {
			ReleaseOutcome outcome = this.backend.release(tenure.key(), tenure.owner(), queue);
			if (outcome == ReleaseOutcome.NOT_OWNER
					&& tenure.loseAtRelease("when it was given back, the store no longer knew it as the owner")) {
				this.notice.lost(tenure);
			}
			return queue && outcome == ReleaseOutcome.RELEASED_TO_WAITER;
		}
		catch (RuntimeException ex) {
			logger.warn("Lock '" + tenure.key() + "' could not be given back; trying again in the background", ex);
			this.returns.retry(tenure.key(), tenure.owner(), tenure.deadline() + tenure.leaseTime().toNanos());
			this.listener.onEvent(new LockEvent.ReleaseFailed(tenure.key(), tenure.fencingToken(), ex));
			return queue;
		}
		finally {
			Long uncertainUntil = tenure.uncertainUntil();
			if (uncertainUntil != null) {
				this.returns.orphan(tenure.key(), tenure.owner(), uncertainUntil);
			}
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
