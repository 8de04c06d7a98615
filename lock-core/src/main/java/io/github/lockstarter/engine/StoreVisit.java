// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;

/**
 * One caller's dealings with the store, from the moment it has the turn until it holds
 * the lock or passes the turn on.
 *
 * <p>
 * All attempts have the same owner token, so one whose answer got lost is found again by
 * the next. If the visit ends without the lock after such an attempt, the token becomes
 * an orphan that is given back in the background.
 */
final class StoreVisit {

	private static final long FIRST_RETRY = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long LONGEST_RETRY = TimeUnit.SECONDS.toNanos(1);

	/**
	 * The store counts in milliseconds: at the end of a lease its key may still be there.
	 */
	private static final long EXPIRY_MARGIN = TimeUnit.MILLISECONDS.toNanos(2);

	private final StoreAccess access;

	private final LocalEntry entry;

	private final Caller caller;

	private final Duration leaseTime;

	private OwnerToken owner;

	private boolean queued;

	private boolean uncertain;

	private long lastUncertain;

	private @Nullable SentRequest sentAhead;

	private @Nullable RuntimeException failure;

	/** An interrupt that does not end the wait has ended the last request. */
	private boolean cutShort;

	private long retryPause = FIRST_RETRY;

	StoreVisit(StoreAccess access, LocalEntry entry, Caller caller) {
		this.access = access;
		this.entry = entry;
		this.caller = caller;
		this.leaseTime = entry.leaseTimeFor(caller);
		this.owner = caller.token();
	}

	/**
	 * Try to get the lock until the caller has no time left.
	 * @param turn what the caller found
	 * @return the tenure, or {@code null} if somebody else held the lock all the time;
	 * the turn is then passed on
	 * @throws LockUnavailableException if the store could not be asked
	 * @throws LockInterruptedException if the caller was interrupted
	 */
	@Nullable Tenure run(StoreTurn turn) {
		Tenure tenure = null;
		try {
			Outage outage = this.entry.outage();
			if (outage != null && remaining(outage) <= 0) {
				throw unavailable(outage.cause());
			}
			if (turn == StoreTurn.AWAIT) {
				setQueued(true);
				await(jittered(this.access.settings().pollInterval().toNanos()), true);
			}
			boolean last;
			do {
				last = this.caller.isOutOfTime();
				tenure = ask();
				// A store that does not answer is not asked once more at the end
				last |= this.failure != null && this.caller.isOutOfTime();
			}
			while (tenure == null && (!last || this.cutShort));
			if (tenure == null && this.failure != null) {
				throw unavailable(this.failure);
			}
			return tenure;
		}
		finally {
			leave(tenure);
		}
	}

	private @Nullable Tenure ask() {
		this.cutShort = false;
		SentRequest request = this.sentAhead;
		if (request == null) {
			this.entry.bell().reset();
		}
		if (this.access.isRefusing()) {
			throw new LockUnavailableException(key(), "its registry is shutting down", null);
		}
		if (this.caller.isInterrupted()) {
			throw new LockInterruptedException(key());
		}
		boolean listening = (request != null) ? request.queue() : !this.caller.isOutOfTime() && this.access.listen();
		long sentAt = (request != null) ? request.sentAt() : this.access.now();
		LockAttempt attempt;
		try {
			attempt = (request != null) ? request.get()
					: this.access.store().acquire(key(), this.owner, this.leaseTime, listening);
			this.sentAhead = null;
		}
		catch (RuntimeException ex) {
			this.sentAhead = null;
			failed(sentAt, listening, ex);
			return null;
		}
		answered();
		if (attempt instanceof LockGrant grant) {
			return accept(grant, sentAt);
		}
		setQueued(listening);
		await(pause(((LockRefusal) attempt).remaining(), listening), listening);
		return null;
	}

	private void answered() {
		this.failure = null;
		this.retryPause = FIRST_RETRY;
		if (this.entry.outage() != null) {
			this.entry.setOutage(null);
		}
		this.access.outages().answered(key());
	}

	private void setQueued(boolean listening) {
		if (listening && this.caller.isInOrderOfArrival()) {
			this.caller.setPlaced();
		}
		else {
			this.queued |= listening;
		}
	}

	/**
	 * Wait to be told that the lock may be free.
	 * @param queue whether this JVM stands in the queue, and wants to keep its place
	 */
	private void await(long nanos, boolean queue) {
		this.sentAhead = this.entry.bell().await(this.caller, nanos, () -> sendAhead(queue));
	}

	private @Nullable SentRequest sendAhead(boolean queued) {
		// A caller that could not be told before may be by now
		boolean queue = queued || this.access.listen();
		long sentAt = this.access.now();
		CompletionStage<LockAttempt> answer = this.access.store()
			.acquireAsync(key(), this.owner, this.leaseTime, queue);
		return (answer != null) ? new SentRequest(sentAt, queue, answer.toCompletableFuture()) : null;
	}

	private @Nullable Tenure accept(LockGrant grant, long sentAt) {
		this.queued = false;
		Tenure tenure = new Tenure(this.entry, this.owner, grant, this.leaseTime, sentAt,
				this.access.settings().timeSlice().toNanos(), this.access.timetable());
		if (tenure.isHeld()) {
			return tenure;
		}
		this.access.returns().orphan(key(), this.owner, this.access.now() + this.leaseTime.toNanos());
		this.owner = this.caller.nextToken();
		this.failure = new IllegalStateException(
				"The store granted the lock later than its lease of " + this.leaseTime.toMillis() + " ms");
		return null;
	}

	private void failed(long sentAt, boolean listening, RuntimeException ex) {
		setQueued(listening);
		this.uncertain = true;
		this.lastUncertain = sentAt;
		this.cutShort = this.caller.hasPostponedInterrupt();
		if (this.cutShort) {
			return;
		}
		this.failure = ex;
		if (ex instanceof UnusableStoreException) {
			throw unavailable(ex);
		}
		if (this.caller.isInterrupted()) {
			throw new LockInterruptedException(key());
		}
		Outage earlier = this.entry.outage();
		Outage outage = new Outage((earlier != null) ? earlier.since() : sentAt, ex);
		this.entry.setOutage(outage);
		long remaining = remaining(outage);
		// One slow request, as the first one of all may be, is no outage yet
		boolean bearable = earlier == null && !this.access.settings().outageTime().isZero();
		if (remaining <= 0 && !bearable) {
			throw unavailable(ex);
		}
		await(Math.min(jittered(this.retryPause), remaining), listening);
		this.retryPause = Math.min(2 * this.retryPause, LONGEST_RETRY);
	}

	/**
	 * Return for how long this caller still bears an outage. The time in which others of
	 * this JVM have asked while it waited behind them counts as well.
	 */
	private long remaining(Outage outage) {
		long borne = Math.min(this.access.now() - outage.since(), this.caller.waited().toNanos());
		return this.access.settings().outageTime().toNanos() - borne;
	}

	private void leave(@Nullable Tenure tenure) {
		if (this.sentAhead != null) {
			setQueued(this.sentAhead.queue());
			this.uncertain = true;
			this.lastUncertain = this.sentAhead.sentAt();
		}
		long uncertainUntil = this.lastUncertain + this.leaseTime.toNanos();
		if (tenure != null) {
			if (this.uncertain) {
				tenure.uncertainUntil(uncertainUntil);
			}
			return;
		}
		if (this.uncertain) {
			this.access.returns().orphan(key(), this.owner, uncertainUntil);
		}
		this.access.queue().passOn(this.entry, this.queued, StoreTurn.ASK);
	}

	private long pause(@Nullable Duration remaining, boolean listening) {
		EngineSettings settings = this.access.settings();
		Duration interval = listening ? settings.pollInterval() : settings.pollIntervalWithoutMessages();
		long pause = jittered(interval.toNanos());
		return (remaining != null) ? Math.min(pause, remaining.toNanos() + EXPIRY_MARGIN) : pause;
	}

	private LockUnavailableException unavailable(RuntimeException cause) {
		return this.access.unavailable(key(), cause);
	}

	private LockKey key() {
		return this.entry.key();
	}

	/** Instances that wait for the same lock should not ask at the same time for ever. */
	private static long jittered(long nanos) {
		return nanos - nanos / 5 + ThreadLocalRandom.current().nextLong(2 * nanos / 5 + 1);
	}

}
