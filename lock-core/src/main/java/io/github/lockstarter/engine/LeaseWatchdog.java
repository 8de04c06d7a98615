// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

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
final class LeaseWatchdog implements Renewal.Listener {

	/** Renewals due within this time of each other are sent together. */
	private static final long LONGEST_TICK = TimeUnit.MILLISECONDS.toNanos(100);

	private final Timetable timetable;

	private final Renewals renewals;

	private final Orphans orphans;

	private final Listener listener;

	private final LossNotice notice;

	private final Duration leaseTime;

	private final int renewalsPerLease;

	private volatile boolean renewing = true;

	/**
	 * Create a watchdog.
	 * @param listener what to tell of tenures
	 * @param leaseTime length of leases that are renewed; every lease is checked at least
	 * as often as these
	 * @param renewalsPerLease number of renewals within the lease time
	 */
	LeaseWatchdog(Timetable timetable, Renewals renewals, Orphans orphans, LossNotice notice, Listener listener,
			Duration leaseTime, int renewalsPerLease) {
		this.timetable = timetable;
		this.renewals = renewals;
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
			Renewal renewal = new Renewal(tenure, this);
			this.renewals.add(renewal);
		}
	}

	@Override
	public void overdue(Renewal renewal) {
		awaitAnswer(renewal.tenure());
	}

	@Override
	public void overtaken(Renewal renewal) {
		Tenure tenure = renewal.tenure();
		// To keep a lock, the store must still know its owner
		if (!tenure.isKept() && tenure.overtaken()) {
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

	@Override
	public void answered(Renewal renewal, boolean owned, @Nullable Throwable failure) {
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

	private static boolean confirm(Renewal renewal) {
		Tenure tenure = renewal.tenure();
		return renewal.isExtending() ? tenure.renewed(renewal.sentAt(), renewal.leaseTime(), renewal.longestLease())
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
