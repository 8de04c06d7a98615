// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import org.jspecify.annotations.Nullable;

/**
 * For how long the waiters of a lock bear a store that does not answer. Guarded by the
 * lock.
 */
final class Patience {

	private final Terms terms;

	private @Nullable Outage outage;

	Patience(Terms terms) {
		this.terms = terms;
	}

	/**
	 * Note that the store has answered, or that nobody waits any longer.
	 */
	void renew() {
		this.outage = null;
	}

	/**
	 * Note that the store has not answered.
	 * @param sentAt when it was asked
	 * @param waiter the waiter on whose behalf it was asked
	 * @return for how long the waiter goes on at most, in nanoseconds, or {@code null} if
	 * it bears no more
	 */
	@Nullable Long failed(long sentAt, RuntimeException failure, Waiter waiter) {
		Outage before = this.outage;
		Outage outage = new Outage((before != null) ? before.since() : sentAt, failure);
		this.outage = outage;
		long bearable = this.terms.bearable(outage, waiter);
		// One slow request, as the first one of all may be, is no outage yet
		return (bearable > 0 || (before == null && this.terms.bearsOutages())) ? Long.valueOf(bearable) : null;
	}

	/**
	 * Return what a waiter is told that bears the store no longer, or {@code null} if it
	 * does.
	 */
	@Nullable Denial denialFor(Waiter waiter) {
		Outage outage = this.outage;
		return (outage != null && this.terms.bearable(outage, waiter) <= 0) ? Denial.unavailable(outage.cause()) : null;
	}

	/**
	 * Return what a waiter is told that is out of time.
	 */
	Denial denial() {
		return (this.outage != null) ? Denial.unavailable(this.outage.cause()) : Denial.CONTENDED;
	}

}
