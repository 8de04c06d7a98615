// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.FailureReason;

/**
 * Leads a waiter from its request to its lease, whether it waits on a thread or without
 * one.
 */
final class Admission {

	private static final Log logger = LogFactory.getLog(Admission.class);

	private final StoreDesk desk;

	private final OutageLog outages;

	private final LockListener listener;

	private final StoreCapabilities capabilities;

	private final EngineThreads threads;

	Admission(StoreDesk desk, OutageLog outages, LockListener listener, StoreCapabilities capabilities,
			EngineThreads threads) {
		this.desk = desk;
		this.outages = outages;
		this.listener = listener;
		this.capabilities = capabilities;
		this.threads = threads;
	}

	/**
	 * Release locks for a caller that must not block.
	 */
	CompletableFuture<Void> release(Runnable release) {
		return this.threads.release(release);
	}

	/**
	 * Note that a waiter comes. Each of its outcomes must be {@linkplain #conclude
	 * concluded}.
	 */
	void come(Waiter waiter) {
		this.desk.places().come(waiter);
	}

	void arrive(LockKey key, Waiter waiter) {
		this.desk.arrive(key, waiter);
	}

	void leave(LockKey key, Waiter waiter, boolean timedOut) {
		this.desk.leave(key, waiter, timedOut);
	}

	/**
	 * Let a waiter leave that could not wait, and release the lock if it was granted.
	 */
	void abandon(LockKey key, Waiter waiter, Throwable reason) {
		this.desk.leave(key, waiter, false);
		if (waiter.outcome() instanceof Hold hold) {
			this.desk.exit(hold);
		}
		waiter.settle(AcquireFailure.misuse(new IllegalStateException("The lock could not be waited for", reason)));
	}

	/**
	 * Convert the outcome of a waiter to its lease, on a thread that may block.
	 * @param interrupted whether the waiter was interrupted when its outcome was settled
	 * @return the lease; {@code null} if another owner held the lock for the whole wait
	 * time, or if the hold was lost on the way, so that the waiter must come again
	 * @throws RuntimeException if the lock is unavailable
	 */
	@Nullable HeldLease conclude(LockKey key, Waiter waiter, boolean interrupted) {
		Outcome outcome = waiter.outcome();
		if (outcome instanceof Hold hold) {
			if (waiter.isReentered()) {
				return letIn(hold, waiter);
			}
			if (!interrupted && hold.isHeld()) {
				this.desk.limit(hold);
				this.listener
					.onEvent(new LockEvent.Acquired(key, waiter.mode(), store(), hold.fencingToken(), waiter.waited()));
				if (logger.isDebugEnabled()) {
					logger.debug("Acquired lock '" + key + "' (" + waiter.mode() + ", token " + hold.fencingToken()
							+ ") after " + waiter.waited().toMillis() + " ms");
				}
				return letIn(hold, waiter);
			}
			this.desk.exit(hold);
			if (!interrupted) {
				return null;
			}
		}
		if (AcquireFailure.isContention(outcome)) {
			String holder = AcquireFailure.holder(outcome);
			this.listener.onEvent(new LockEvent.Contended(key, waiter.mode(), store(), waiter.waited(), holder));
			if (logger.isDebugEnabled()) {
				logger.debug("Did not acquire lock '" + key + "' (" + waiter.mode() + ") within "
						+ waiter.waited().toMillis() + " ms, because it is held by "
						+ ((holder != null) ? holder : "another owner"));
			}
			this.desk.places().leave(key, waiter, false);
			return null;
		}
		RuntimeException exception = exception(key, waiter,
				(outcome instanceof AcquireFailure failure) ? failure : AcquireFailure.LEFT);
		turnAway(key, waiter, exception);
		throw exception;
	}

	private HeldLease letIn(Hold hold, Waiter waiter) {
		this.desk.places().leave(hold.key(), waiter, true);
		return new HeldLease(hold, this, waiter.hasBody() && !waiter.isReentered());
	}

	private RuntimeException exception(LockKey key, Waiter waiter, AcquireFailure failure) {
		return switch (failure.reason()) {
			case CONTENDED -> AcquireFailure.contention(key, waiter);
			case UNAVAILABLE -> unavailable(key, cause(failure));
			case LATE -> new LockUnavailableException(key, FailureReason.of(cause(failure)), null);
			case REFUSED -> new LockUnavailableException(key, "its registry is shutting down", null);
			case LEFT -> new LockInterruptedException(key);
			case MISUSE -> cause(failure);
		};
	}

	private static RuntimeException cause(AcquireFailure failure) {
		return (failure.cause() != null) ? failure.cause() : new IllegalStateException();
	}

	/**
	 * Return the exception for a waiter if the store could not be asked for a lock.
	 */
	private LockUnavailableException unavailable(LockKey key, RuntimeException cause) {
		this.outages.failed(key, cause);
		String address = this.outages.address();
		return new LockUnavailableException(key, "the store could not be asked ("
				+ (address.isEmpty() ? "" : address + ": ") + FailureReason.of(cause) + ")", cause);
	}

	/**
	 * Dismiss a waiter without the lock.
	 */
	private void turnAway(LockKey key, Waiter waiter, RuntimeException reason) {
		if (reason instanceof LockInterruptedException) {
			this.listener.onEvent(new LockEvent.Interrupted(key, waiter.mode(), store(), waiter.waited()));
		}
		else if (reason instanceof LockUnavailableException) {
			this.listener.onEvent(new LockEvent.Unavailable(key, waiter.mode(), store(), reason));
		}
		this.desk.places().leave(key, waiter, false);
	}

	/**
	 * Keep a lock for some time after the grant, even if it is released earlier.
	 * @throws IllegalArgumentException if the store cannot do that
	 */
	void holdAtLeast(Hold hold, Duration time) {
		if (!time.isZero()) {
			this.capabilities.requireKeeping(hold.key().toString());
		}
		hold.holdAtLeast(time);
	}

	String store() {
		return this.capabilities.store();
	}

	/**
	 * Exit one level of a hold, and release the lock with the last one.
	 * @throws io.github.lockstarter.LockLostException if the lock was lost before
	 */
	void exit(Hold hold) {
		this.desk.exit(hold);
		if (hold.isLost()) {
			throw hold.loss();
		}
		if (hold.beginPublishing()) {
			publishEnd(hold);
		}
	}

	private void publishEnd(Hold hold) {
		if (hold.isKept()) {
			Duration rest = Duration.ofNanos(Math.max(0, hold.keptUntil() - hold.ownership().now()));
			this.listener.onEvent(
					new LockEvent.Kept(hold.key(), hold.mode(), store(), hold.fencingToken(), hold.duration(), rest));
		}
		else {
			this.listener.onEvent(
					new LockEvent.Released(hold.key(), hold.mode(), store(), hold.fencingToken(), hold.duration()));
		}
		if (logger.isDebugEnabled()) {
			logger.debug((hold.isKept() ? "Keeps" : "Released") + " lock '" + hold.key() + "' (token "
					+ hold.fencingToken() + ") after " + hold.duration().toMillis() + " ms");
		}
	}

}
