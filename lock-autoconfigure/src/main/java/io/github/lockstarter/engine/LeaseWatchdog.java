// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.backend.LockBackend;

/**
 * The one renewer of all leases that have no fixed lease time, and the one that notices
 * when any lease ends too early.
 *
 * <p>
 * A lease is renewed when a part of it has passed, by default a third. A failed renewal
 * is tried again every twentieth of the lease until its deadline. The renewals themselves
 * run on other threads: a store that does not answer delays neither this watch nor the
 * deadline.
 */
final class LeaseWatchdog {

	private final LockBackend backend;

	private final Timetable timetable;

	private final Executor store;

	private final LeaseReturns returns;

	private final LossNotice notice;

	private final int renewalsPerLease;

	private volatile boolean renewing = true;

	LeaseWatchdog(LockBackend backend, Timetable timetable, Executor store, LeaseReturns returns, LossNotice notice,
			int renewalsPerLease) {
		this.backend = backend;
		this.timetable = timetable;
		this.store = store;
		this.returns = returns;
		this.notice = notice;
		this.renewalsPerLease = renewalsPerLease;
	}

	/**
	 * Begin or stop to renew; deadlines are watched in any case.
	 */
	void setRenewing(boolean renewing) {
		this.renewing = renewing;
	}

	void watch(Tenure tenure) {
		schedule(tenure, firstRenewal(tenure, this.timetable.now()));
	}

	/**
	 * Forget a tenure that is over.
	 */
	void forget(Tenure tenure) {
		Timetable.Entry alarm = tenure.alarm().getAndSet(null);
		if (alarm != null) {
			this.timetable.cancel(alarm);
		}
	}

	private void schedule(Tenure tenure, long due) {
		Timetable.Entry next = this.timetable.at(earlier(due, tenure.deadline()), () -> check(tenure));
		Timetable.Entry previous = tenure.alarm().getAndSet(next);
		if (previous != null) {
			this.timetable.cancel(previous);
		}
		// Whoever ended the tenure in the meantime has looked for the previous alarm
		if (tenure.isOver()) {
			this.timetable.cancel(next);
		}
	}

	private void check(Tenure tenure) {
		if (tenure.remainingNanos() <= 0) {
			expire(tenure);
		}
		else if (tenure.isRenewable() && this.renewing && !tenure.isOver()) {
			// Until the renewal is answered there is nothing to do but to watch the
			// deadline
			schedule(tenure, tenure.deadline());
			this.store.execute(() -> renew(tenure));
		}
		else {
			schedule(tenure, tenure.deadline());
		}
	}

	private void renew(Tenure tenure) {
		if (tenure.isOver()) {
			return;
		}
		long sentAt = this.timetable.now();
		boolean owned;
		try {
			owned = this.backend.renew(tenure.key(), tenure.owner(), tenure.leaseTime());
		}
		catch (RuntimeException ex) {
			if (tenure.suspect()) {
				this.notice.suspect(tenure, ex);
			}
			schedule(tenure, this.timetable.now() + jittered(tenure.leaseTime().toNanos() / 20));
			return;
		}
		if (!owned) {
			lose(tenure, "the store no longer knew it as the owner");
			return;
		}
		if (tenure.renewed(sentAt)) {
			this.notice.recovered(tenure);
		}
		schedule(tenure, firstRenewal(tenure, sentAt));
	}

	/**
	 * End a tenure whose deadline has passed.
	 */
	void expire(Tenure tenure) {
		lose(tenure, null);
	}

	private void lose(Tenure tenure, @Nullable String reason) {
		if (tenure.lose(reason)) {
			forget(tenure);
			// The store may still know the owner, and a late renewal may still reach it
			this.returns.orphan(tenure.key(), tenure.owner(), this.timetable.now() + tenure.leaseTime().toNanos());
			this.notice.lost(tenure);
		}
	}

	private long firstRenewal(Tenure tenure, long since) {
		return tenure.isRenewable() ? since + jittered(tenure.leaseTime().toNanos() / this.renewalsPerLease)
				: tenure.deadline();
	}

	/** Leases taken at the same time should not be renewed at the same time for ever. */
	private static long jittered(long nanos) {
		return nanos - ThreadLocalRandom.current().nextLong(nanos / 10 + 1);
	}

	private static long earlier(long a, long b) {
		return (a - b < 0) ? a : b;
	}

}
