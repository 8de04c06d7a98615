// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.LeaseRequest;

/**
 * A renewal that is due, until it is answered. It never extends a lease beyond the end of
 * a limited hold: if that ends before the lease, it only checks whether the store still
 * knows the owner.
 */
final class Renewal {

	private final Tenure tenure;

	private final Listener listener;

	private volatile @Nullable RenewalRound round;

	private volatile long sentAt;

	private volatile Duration leaseTime = Duration.ZERO;

	private volatile Duration longestLease = Duration.ZERO;

	private volatile boolean answered;

	Renewal(Tenure tenure, Listener listener) {
		this.tenure = tenure;
		this.listener = listener;
	}

	Tenure tenure() {
		return this.tenure;
	}

	boolean isExtending() {
		return !this.leaseTime.isZero();
	}

	Duration leaseTime() {
		return this.leaseTime;
	}

	long sentAt() {
		return this.sentAt;
	}

	/**
	 * Return the longest time for which the renewal counts.
	 */
	Duration longestLease() {
		return this.longestLease;
	}

	void setRound(RenewalRound round) {
		this.round = round;
	}

	/**
	 * Return the request to the store, which counts as sent from this moment.
	 */
	LeaseRequest send() {
		this.sentAt = this.tenure.now();
		this.leaseTime = this.tenure.neededLease(this.sentAt);
		if (isExtending()) {
			this.tenure.claim(this.sentAt, this.leaseTime);
		}
		return new LeaseRequest(this.tenure.key(), this.tenure.owner(), this.leaseTime);
	}

	boolean isAnswered() {
		return this.answered;
	}

	/**
	 * Note the answer.
	 * @param longestLease the longest time for which the renewal counts
	 */
	void answered(boolean owned, Duration longestLease, @Nullable Throwable failure) {
		this.longestLease = longestLease;
		this.answered = true;
		RenewalRound round = this.round;
		if (round != null) {
			round.answered();
		}
		this.listener.answered(this, owned, failure);
	}

	void overdue() {
		this.listener.overdue(this);
	}

	/**
	 * Note that the request is on its way.
	 */
	void sent() {
		if (isExtending() && this.tenure.isOver()) {
			this.listener.overtaken(this);
		}
	}

	/**
	 * Callback for the answer, on a thread that must not block.
	 */
	interface Listener {

		/**
		 * Handle the answer.
		 * @param owned whether the store knows the owner, and has extended the lease if
		 * requested
		 * @param failure the reason why there is no answer, or {@code null} if there is
		 * one
		 */
		void answered(Renewal renewal, boolean owned, @Nullable Throwable failure);

		/**
		 * Watch the deadline from now on: a lease that became due at the same time has
		 * expired without an answer.
		 */
		void overdue(Renewal renewal);

		/**
		 * Release the lock again: its tenure has ended while the request was sent, which
		 * may reach servers after the release, and take the lock there again.
		 */
		void overtaken(Renewal renewal);

	}

}
