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

	private final LossNotice notice;

	private final Duration leaseTime;

	private final int renewalsPerLease;

	private volatile boolean renewing = true;

	/** Used only by actions of the timetable. */
	private List<Tenure> due = new ArrayList<>();

	/**
	 * Create a watchdog.
	 * @param threads where to make requests
	 * @param listener what to tell of tenures
	 * @param leaseTime length of leases that are renewed; every lease is checked at least
	 * as often as these
	 * @param renewalsPerLease number of renewals within the lease time
	 */
	LeaseWatchdog(LockStore store, Timetable timetable, Executor threads, Orphans orphans, LossNotice notice,
			Listener listener, Duration leaseTime, int renewalsPerLease) {
		this.store = store;
		this.timetable = timetable;
		this.threads = threads;
		this.orphans = orphans;
		this.listener = listener;
		this.notice = notice;
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
	 * Watch a tenure from now on, or anew because the current hold lasts longer than the
	 * previous one.
	 */
	void watch(Tenure tenure) {
		Timetable.Entry alarm = tenure.alarm();
		long due = lastRenewal(tenure) + renewalInterval(tenure);
		if (alarm == null || (due - alarm.due() < 0 && !tenure.isRenewing())) {
			schedule(tenure, renewalTime(tenure));
		}
	}

	/**
	 * Return by how much a renewal is late, in nanoseconds; zero or less if none is due.
	 */
	long lag(Tenure tenure) {
		return this.timetable.now() - lastRenewal(tenure) - renewalInterval(tenure);
	}

	/**
	 * Renew the lease of a tenure now, because the store may be out of reach.
	 */
	void hasten(Tenure tenure) {
		if (tenure.alarm() != null && !tenure.isRenewing()) {
			schedule(tenure, this.timetable.now());
		}
	}

	/**
	 * Forget a tenure that is over.
	 */
	void forget(Tenure tenure) {
		Timetable.Entry alarm = tenure.setAlarm(null);
		if (alarm != null) {
			this.timetable.cancel(alarm);
		}
	}

	/**
	 * End a tenure whose deadline has passed.
	 */
	void expire(Tenure tenure) {
		lose(tenure, null);
	}

	/**
	 * End a tenure whose owner the store no longer knows.
	 */
	void disown(Tenure tenure) {
		if (!tenure.isOver()) {
			lose(tenure, "the store no longer knew its owner");
		}
	}

	private void schedule(Tenure tenure, long due) {
		Timetable.Entry next = new Timetable.Entry(earlier(due, tenure.deadline()), () -> check(tenure));
		Timetable.Entry previous = tenure.setAlarm(next);
		if (previous != null) {
			this.timetable.cancel(previous);
		}
		// Only now, because the check may set the next alarm at once
		this.timetable.enter(next);
		// If the tenure ended in the meantime, its end has cancelled only the previous
		// alarm
		if (tenure.isOver()) {
			this.timetable.cancel(next);
		}
	}

	private void check(Tenure tenure) {
		if (tenure.isOver()) {
			return;
		}
		if (tenure.remainingNanos() <= 0) {
			expire(tenure);
			return;
		}
		this.listener.seen(tenure);
		if (!this.renewing) {
			// Renewing may begin again before the deadline
			schedule(tenure, retryTime(tenure));
		}
		else if (tenure.isRenewing()) {
			awaitAnswer(tenure);
		}
		else {
			tenure.setRenewing(true);
			// Until the answer comes, only the deadline counts
			schedule(tenure, tenure.deadline());
			if (this.due.isEmpty()) {
				// Runs after all actions that are already due
				this.timetable.at(this.timetable.now(), this::sendDue);
			}
			this.due.add(tenure);
		}
	}

	/**
	 * Send what is due together, in batches. It waits for nothing else: neither for other
	 * requests nor for the answers to earlier renewals, because each lease has at most
	 * one renewal without an answer.
	 */
	private void sendDue() {
		List<Tenure> due = this.due;
		this.due = new ArrayList<>();
		for (int i = 0; i < due.size(); i += BATCH_SIZE) {
			List<Tenure> batch = due.subList(i, Math.min(i + BATCH_SIZE, due.size()));
			this.threads.execute(() -> send(batch));
		}
	}

	private void send(List<Tenure> tenures) {
		List<Renewal> batch = tenures.stream().filter((tenure) -> !tenure.isOver()).map(this::begin).toList();
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
	Renewal begin(Tenure tenure) {
		long now = this.timetable.now();
		Duration leaseTime = tenure.neededLease(now);
		tenure.claim(now, leaseTime);
		return new Renewal(tenure, now, leaseTime);
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
	 * Release a lock again if its tenure has ended while a renewal was sent, which may
	 * reach servers after the release, and take the lock there again.
	 */
	void sent(Renewal renewal) {
		Tenure tenure = renewal.tenure();
		// To keep a lock, the store must still know its owner
		if (renewal.isExtending() && tenure.isOver() && !tenure.isKept() && tenure.overtaken()) {
			this.orphans.retry(tenure.key(), tenure.owner(), tenure.claimedUntil());
		}
	}

	private void awaitAnswer(Tenure tenure) {
		schedule(tenure, tenure.deadline());
		// The alarm that was replaced may be that of an answer in the meantime
		if (!tenure.isRenewing()) {
			schedule(tenure, this.timetable.now());
		}
	}

	void answered(Renewal renewal, boolean owned, @Nullable Throwable failure) {
		Tenure tenure = renewal.tenure();
		this.notice.settled(tenure.key(), failure);
		boolean confirmed = failure == null && owned && !tenure.isOver();
		boolean recovered = confirmed && confirm(renewal);
		// The next renewal may shorten the deadline
		tenure.setRenewing(false);
		if (tenure.isOver()) {
			return;
		}
		if (failure != null) {
			if (tenure.suspect()) {
				this.notice.suspect(tenure, failure);
			}
			schedule(tenure, retryTime(tenure));
		}
		else if (owned) {
			if (recovered) {
				this.notice.recovered(tenure);
			}
			schedule(tenure, renewalTime(tenure));
			// A hold that has begun in the meantime may need an earlier alarm
			watch(tenure);
		}
		else {
			disown(tenure);
		}
	}

	private boolean confirm(Renewal renewal) {
		Tenure tenure = renewal.tenure();
		return renewal.isExtending()
				? tenure.renewed(renewal.sentAt(), renewal.leaseTime(), Answers.longestLease(this.store))
				: tenure.confirmed(renewal.sentAt());
	}

	private void lose(Tenure tenure, @Nullable String reason) {
		if (tenure.lose(reason)) {
			forget(tenure);
			// The store may still know the owner, and a late renewal may still reach it
			this.orphans.orphan(tenure.key(), tenure.owner(), tenure.claimedUntil());
		}
		if (tenure.isLost()) {
			this.listener.lost(tenure);
		}
	}

	private long renewalTime(Tenure tenure) {
		long time = lastRenewal(tenure) + jittered(renewalInterval(tenure));
		return time - Math.floorMod(time, Math.min(LONGEST_TICK, tenure.leaseTime().toNanos() / 100));
	}

	private long retryTime(Tenure tenure) {
		return this.timetable.now() + jittered(watched(tenure) / 20);
	}

	private static long lastRenewal(Tenure tenure) {
		return tenure.needsRenewal() ? tenure.grantedAt() : tenure.confirmedAt();
	}

	private long renewalInterval(Tenure tenure) {
		return watched(tenure) / this.renewalsPerLease;
	}

	private long watched(Tenure tenure) {
		long granted = tenure.deadline() - tenure.grantedAt();
		return Math.min(granted, Math.min(tenure.leaseTime().toNanos(), this.leaseTime.toNanos()));
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
	record Renewal(Tenure tenure, long sentAt, Duration leaseTime) {

		LeaseRequest request() {
			return new LeaseRequest(this.tenure.key(), this.tenure.owner(), this.leaseTime);
		}

		boolean isExtending() {
			return !this.leaseTime.isZero();
		}

	}

	/**
	 * Callback for tenures, on a thread that must not block.
	 */
	interface Listener {

		/**
		 * Handle a lost tenure, possibly more than once.
		 */
		void lost(Tenure tenure);

		/**
		 * Handle that the watchdog looks at a tenure, which it does at least as often as
		 * it renews leases.
		 */
		default void seen(Tenure tenure) {
		}

	}

}
