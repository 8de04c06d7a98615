// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;

/**
 * Reports what happens to the locks of a registry to the log and the listeners, and to
 * owners that they have lost a lock. What the caller of an acquisition or a release does
 * itself is reported on its thread. What happens in the background is reported on other
 * threads, one for callbacks of owners and one for listeners, so that a slow listener
 * delays neither a renewal nor the interruption of a body.
 */
final class LeaseEvents {

	private static final Log logger = LogFactory.getLog(LeaseEvents.class);

	private final String store;

	private final LockListener listener;

	private final Executor callbacks;

	private final Executor events;

	private final OutageLog outages;

	LeaseEvents(String store, LockListener listener, Executor callbacks, Executor events, OutageLog outages) {
		this.store = store;
		this.listener = listener;
		this.callbacks = callbacks;
		this.events = events;
		this.outages = outages;
	}

	void acquired(Hold hold, Waiter waiter) {
		this.listener.onEvent(
				new LockEvent.Acquired(hold.key(), waiter.mode(), this.store, hold.fencingToken(), waiter.waited()));
		if (logger.isDebugEnabled()) {
			logger.debug("Acquired lock '" + hold.key() + "' (" + waiter.mode() + ", token " + hold.fencingToken()
					+ ") after " + waiter.waited().toMillis() + " ms");
		}
	}

	void contended(LockKey key, Waiter waiter, @Nullable String holder) {
		this.listener.onEvent(new LockEvent.Contended(key, waiter.mode(), this.store, waiter.waited(), holder));
		if (logger.isDebugEnabled()) {
			logger
				.debug("Did not acquire lock '" + key + "' (" + waiter.mode() + ") within " + waiter.waited().toMillis()
						+ " ms, because it is held by " + ((holder != null) ? holder : "another owner"));
		}
	}

	/**
	 * Report that a waiter gets an exception instead of the lock.
	 */
	void failed(LockKey key, Waiter waiter, RuntimeException exception) {
		if (exception instanceof LockInterruptedException) {
			this.listener.onEvent(new LockEvent.Interrupted(key, waiter.mode(), this.store, waiter.waited()));
		}
		else if (exception instanceof LockUnavailableException) {
			this.listener.onEvent(new LockEvent.Unavailable(key, waiter.mode(), this.store, exception));
		}
	}

	/**
	 * Report the end of a hold that was not lost.
	 */
	void ended(Hold hold) {
		if (hold.isKept()) {
			Duration rest = Duration.ofNanos(Math.max(0, hold.keptUntil() - hold.ownership().now()));
			this.listener.onEvent(new LockEvent.Kept(hold.key(), hold.mode(), this.store, hold.fencingToken(),
					hold.duration(), rest));
		}
		else {
			this.listener.onEvent(
					new LockEvent.Released(hold.key(), hold.mode(), this.store, hold.fencingToken(), hold.duration()));
		}
		if (logger.isDebugEnabled()) {
			logger.debug((hold.isKept() ? "Keeps" : "Released") + " lock '" + hold.key() + "' (token "
					+ hold.fencingToken() + ") after " + hold.duration().toMillis() + " ms");
		}
	}

	void suspect(Ownership ownership, Throwable cause) {
		Duration remaining = Duration.ofNanos(Math.max(0, ownership.remainingNanos()));
		logger
			.debug("Lock '" + ownership.key() + "' could not be " + (ownership.needsRenewal() ? "renewed" : "looked up")
					+ "; trying again for " + remaining.toMillis() + " ms until its lease expires", cause);
		tell(new LockEvent.Suspect(ownership.key(), ownership.owner().mode(), this.store, ownership.fencingToken(),
				remaining, cause));
	}

	void recovered(Ownership ownership) {
		logger.debug("Lock '" + ownership.key() + "' was renewed again");
		tell(new LockEvent.Recovered(ownership.key(), ownership.owner().mode(), this.store, ownership.fencingToken()));
	}

	/**
	 * Note that a renewal or a release has failed, or was answered.
	 */
	void answered(LockKey key, @Nullable Throwable failure) {
		if (failure != null) {
			this.outages.failed(key, failure);
		}
		else {
			this.outages.answered();
		}
	}

	void releaseFailed(Ownership ownership, Throwable cause) {
		logger.debug("Lock '" + ownership.key() + "' could not be released; trying again in the background", cause);
		tell(new LockEvent.ReleaseFailed(ownership.key(), ownership.owner().mode(), this.store,
				ownership.fencingToken(), cause));
	}

	void lost(Hold hold) {
		LockLostException loss = hold.loss();
		// A lease that is closed from now on still learns of the earlier loss
		List<Hold.Callback> owners = hold.callbacks();
		String message = loss.getMessage();
		if (hold.isBodyRunning() && hold.hasReachedHoldAtMost()) {
			message += ". " + Warnings.whereabouts(hold);
		}
		if (this.outages.lost(loss.getKey())) {
			logger.debug(message);
		}
		else {
			logger.warn(message);
		}
		for (Hold.Callback callback : owners) {
			callback.context().on(this.callbacks).execute(() -> call(callback.action(), loss));
		}
		tell(new LockEvent.Lost(hold.key(), hold.mode(), this.store, hold.fencingToken(), hold.lossReason()));
	}

	private void tell(LockEvent event) {
		this.events.execute(() -> this.listener.onEvent(event));
	}

	private void call(Consumer<LockLostException> callback, LockLostException loss) {
		try {
			callback.accept(loss);
		}
		catch (Throwable ex) {
			logger.warn(
					"Callback " + callback.getClass().getName() + " failed on the loss of lock '" + loss.getKey() + "'",
					ex);
		}
	}

}
