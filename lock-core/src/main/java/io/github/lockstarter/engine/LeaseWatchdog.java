// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;

/**
 * Renews all leases without a fixed lease time, and notices the early loss of any lease.
 *
 * <p>
 * A lease is renewed when a part of it has passed, by default a third. For a lease with a
 * fixed lease time, the store is asked at the same intervals whether it still knows the
 * owner, until the lease expires. A failed request is tried again every twentieth of the
 * lease until the deadline. A store that does not answer delays neither this watch nor
 * the deadline.
 */
final class LeaseWatchdog {

	/** Renewals due within this time of each other are sent together. */
	private static final long LONGEST_TICK = TimeUnit.MILLISECONDS.toNanos(100);

	private static final int BATCH_SIZE = 100;

	private final LockStore store;

	private final Timetable timetable;

	private final Executor threads;

	private final Orphans orphans;

	private final Listener listener;

	private final LeaseEvents events;

	private final Duration leaseTime;

	private final int renewalsPerLease;

	private volatile boolean renewing = true;

	/** Used only by actions of the timetable. */
	private List<Ownership> due = new ArrayList<>();

	/**
	 * Create a watchdog.
	 * @param threads where to make requests
	 * @param listener what to tell of ownerships
	 * @param leaseTime length of leases that are renewed; every lease is checked at least
	 * as often as these
	 * @param renewalsPerLease number of renewals within the lease time
	 */
	LeaseWatchdog(LockStore store, Timetable timetable, Executor threads, Orphans orphans, LeaseEvents events,
			Listener listener, Duration leaseTime, int renewalsPerLease) {
		this.store = store;
		this.timetable = timetable;
		this.threads = threads;
		this.orphans = orphans;
		this.listener = listener;
		this.events = events;
		this.leaseTime = leaseTime;
		this.renewalsPerLease = renewalsPerLease;
	}

	/**
	 * Begin or stop renewing; deadlines are watched in any case.
	 */
	void setRenewing(boolean renewing) {
		this.renewing = renewing;
	}

	/**
	 * Watch an ownership from now on, or anew because the current hold lasts longer than
	 * the previous one.
	 */
	void watch(Ownership ownership) {
		Timetable.Entry alarm = ownership.alarm();
		long due = lastRenewal(ownership) + renewalInterval(ownership);
		if (alarm == null || (due - alarm.due() < 0 && !ownership.isRenewing())) {
			schedule(ownership, renewalTime(ownership));
		}
	}

	/**
	 * Return by how much a renewal is late, in nanoseconds; zero or less if none is due.
	 */
	long lag(Ownership ownership) {
		return this.timetable.now() - lastRenewal(ownership) - renewalInterval(ownership);
	}

	/**
	 * Renew the lease of an ownership now, because the store may be out of reach.
	 */
	void hasten(Ownership ownership) {
		if (ownership.alarm() != null && !ownership.isRenewing()) {
			schedule(ownership, this.timetable.now());
		}
	}

	/**
	 * Forget an ownership that is over.
	 */
	void forget(Ownership ownership) {
		Timetable.Entry alarm = ownership.setAlarm(null);
		if (alarm != null) {
			this.timetable.cancel(alarm);
		}
	}

	/**
	 * End an ownership whose deadline has passed.
	 */
	void expire(Ownership ownership) {
		lose(ownership, null);
	}

	/**
	 * End an ownership whose owner the store no longer knows.
	 */
	void disown(Ownership ownership) {
		if (!ownership.isOver()) {
			lose(ownership, "the store no longer knew its owner");
		}
	}

	/**
	 * End an ownership that somebody has freed.
	 */
	void freed(Ownership ownership) {
		lose(ownership, "it was freed");
	}

	private void schedule(Ownership ownership, long due) {
		Timetable.Entry next = new Timetable.Entry(earlier(due, ownership.deadline()), () -> check(ownership));
		Timetable.Entry previous = ownership.setAlarm(next);
		// Only now, because the check may set the next alarm at once
		this.timetable.enter(next);
		// Only now, because without memory for the next alarm this one is needed
		if (previous != null) {
			this.timetable.cancel(previous);
		}
		// If the ownership ended in the meantime, its end has cancelled only the previous
		// alarm
		if (ownership.isOver()) {
			this.timetable.cancel(next);
		}
	}

	private void check(Ownership ownership) {
		if (ownership.isOver()) {
			return;
		}
		if (ownership.remainingNanos() <= 0) {
			expire(ownership);
			return;
		}
		this.listener.seen(ownership);
		// Whatever becomes of a renewal, somebody looks again before the deadline
		schedule(ownership, retryTime(ownership));
		if (this.renewing && !ownership.isRenewing()) {
			if (this.due.isEmpty()) {
				// Runs after all actions that are already due
				this.timetable.at(this.timetable.now(), this::sendDue);
			}
			this.due.add(ownership);
		}
	}

	/**
	 * Send what is due together, in batches. It waits for nothing else: neither for other
	 * requests nor for the answers to earlier renewals, because each lease has at most
	 * one renewal without an answer.
	 */
	private void sendDue() {
		List<Ownership> due = this.due;
		this.due = new ArrayList<>();
		for (int i = 0; i < due.size(); i += BATCH_SIZE) {
			List<Ownership> batch = due.subList(i, Math.min(i + BATCH_SIZE, due.size()));
			setRenewing(batch, true);
			try {
				this.threads.execute(() -> send(batch));
			}
			catch (RuntimeException | Error ex) {
				setRenewing(batch, false);
				throw ex;
			}
		}
	}

	/** An iterator would need memory, which may just be what is missing. */
	private static void setRenewing(List<Ownership> batch, boolean renewing) {
		for (int i = 0; i < batch.size(); i++) {
			batch.get(i).setRenewing(renewing);
		}
	}

	private void send(List<Ownership> batch) {
		try {
			renew(batch);
		}
		catch (RuntimeException | Error ex) {
			setRenewing(batch, false);
			throw ex;
		}
	}

	private void renew(List<Ownership> ownerships) {
		List<Renewal> batch = ownerships.stream().filter((ownership) -> !ownership.isOver()).map(this::begin).toList();
		if (batch.isEmpty()) {
			return;
		}
		List<CompletionStage<Boolean>> answers = ask(batch.stream().map(Renewal::request).toList());
		batch.forEach(this::sent);
		for (int i = 0; i < batch.size(); i++) {
			Renewal renewal = batch.get(i);
			answers.get(i)
				.whenComplete((owned, ex) -> answered(renewal, Boolean.TRUE.equals(owned), failure(owned, ex)));
		}
	}

	/**
	 * Begin a renewal, which counts as sent from this moment.
	 */
	Renewal begin(Ownership ownership) {
		long now = this.timetable.now();
		Duration leaseTime = ownership.neededLease(now);
		ownership.claim(now, leaseTime);
		return new Renewal(ownership, now, leaseTime);
	}

	private List<CompletionStage<Boolean>> ask(List<LeaseRequest> requests) {
		try {
			List<CompletionStage<Boolean>> answers = this.store.renew(requests);
			if (answers != null && answers.size() == requests.size() && answers.stream().allMatch(Objects::nonNull)) {
				return answers;
			}
			throw Answers.noAnswer();
		}
		catch (Throwable ex) {
			return Collections.nCopies(requests.size(), CompletableFuture.failedFuture(ex));
		}
	}

	private static @Nullable Throwable failure(@Nullable Boolean owned, @Nullable Throwable ex) {
		if (ex != null) {
			return RootCause.unwrap(ex);
		}
		return (owned != null) ? null : Answers.noAnswer();
	}

	/**
	 * Release a lock again if its ownership has ended while a renewal was sent, which may
	 * reach servers after the release, and take the lock there again.
	 */
	void sent(Renewal renewal) {
		Ownership ownership = renewal.ownership();
		if (renewal.isExtending() && ownership.isOver() && ownership.overtaken()) {
			this.orphans.retry(ownership.key(), ownership.owner(), ownership.claimedUntil());
		}
	}

	void answered(Renewal renewal, boolean owned, @Nullable Throwable failure) {
		Ownership ownership = renewal.ownership();
		boolean confirmed = failure == null && owned && !ownership.isOver();
		boolean recovered = confirmed && confirm(renewal);
		// The next renewal may shorten the deadline
		ownership.setRenewing(false);
		this.events.answered(ownership.key(), failure);
		if (ownership.isOver()) {
			return;
		}
		if (failure != null) {
			if (ownership.suspect()) {
				this.events.suspect(ownership, failure);
			}
			schedule(ownership, retryTime(ownership));
		}
		else if (owned) {
			if (recovered) {
				this.events.recovered(ownership);
			}
			schedule(ownership, renewalTime(ownership));
			// A hold that has begun in the meantime may need an earlier alarm
			watch(ownership);
		}
		else {
			disown(ownership);
		}
	}

	private boolean confirm(Renewal renewal) {
		Ownership ownership = renewal.ownership();
		return renewal.isExtending()
				? ownership.renewed(renewal.sentAt(), renewal.leaseTime(), Answers.longestLease(this.store))
				: ownership.confirmed(renewal.sentAt());
	}

	private void lose(Ownership ownership, @Nullable String reason) {
		if (ownership.lose(reason)) {
			forget(ownership);
			// The store may still know the owner, and a late renewal may still reach it
			this.orphans.orphan(ownership.key(), ownership.owner(), ownership.claimedUntil());
		}
		if (ownership.isLost()) {
			this.listener.lost(ownership);
		}
	}

	private long renewalTime(Ownership ownership) {
		long time = lastRenewal(ownership) + jittered(renewalInterval(ownership));
		return time - Math.floorMod(time, Math.min(LONGEST_TICK, ownership.leaseTime().toNanos() / 100));
	}

	private long retryTime(Ownership ownership) {
		return this.timetable.now() + jittered(watched(ownership) / 20);
	}

	private static long lastRenewal(Ownership ownership) {
		return ownership.needsRenewal() ? ownership.grantedAt() : ownership.confirmedAt();
	}

	private long renewalInterval(Ownership ownership) {
		return watched(ownership) / this.renewalsPerLease;
	}

	private long watched(Ownership ownership) {
		long granted = ownership.deadline() - ownership.grantedAt();
		return Math.min(granted, Math.min(ownership.leaseTime().toNanos(), this.leaseTime.toNanos()));
	}

	/** Spread the renewals of leases that were granted at the same time. */
	private long jittered(long nanos) {
		return nanos - this.timetable.time().random(nanos / 10 + 1);
	}

	private static long earlier(long a, long b) {
		return (a - b < 0) ? a : b;
	}

	/**
	 * One renewal of a lease, or a question whether it lasts.
	 *
	 * @param leaseTime the lease to request; zero if it lasts long enough
	 */
	record Renewal(Ownership ownership, long sentAt, Duration leaseTime) {

		LeaseRequest request() {
			return new LeaseRequest(this.ownership.key(), this.ownership.owner(), this.leaseTime);
		}

		boolean isExtending() {
			return !this.leaseTime.isZero();
		}

	}

	/**
	 * Callback for ownerships, on a thread that must not block.
	 */
	interface Listener {

		/**
		 * Handle a lost ownership, possibly more than once.
		 */
		void lost(Ownership ownership);

		/**
		 * Handle that the watchdog looks at an ownership, which it does at least as often
		 * as it renews leases.
		 */
		default void seen(Ownership ownership) {
		}

	}

}
