// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import org.jspecify.annotations.Nullable;

/**
 * How long the waiters of a lock tolerate a store that does not answer. Guarded by the
 * lock.
 */
final class Patience {

	private final Terms terms;

	private @Nullable Outage outage;

	Patience(Terms terms) {
		this.terms = terms;
	}

	/**
	 * Note that the store has answered, or that no waiter is left.
	 */
	void renew() {
		this.outage = null;
	}

	/**
	 * Note that the store has not answered.
	 * @param sentAt when it was asked
	 * @param waiter the waiter on whose behalf it was asked
	 * @return how long the waiter still tolerates the outage, in nanoseconds, or
	 * {@code null} if it does not
	 */
	@Nullable Long failed(long sentAt, RuntimeException failure, Waiter waiter) {
		Outage before = this.outage;
		Outage outage = new Outage((before != null) ? before.since() : sentAt, failure);
		this.outage = outage;
		long tolerance = tolerance(outage, waiter);
		// One slow request, such as the very first one, is no outage yet
		return (tolerance > 0 || (before == null && this.terms.outageTime() > 0)) ? Long.valueOf(tolerance) : null;
	}

	/**
	 * Return the denial for a waiter that no longer tolerates the outage, or {@code null}
	 * if it does.
	 */
	@Nullable Denial denialFor(Waiter waiter) {
		Outage outage = this.outage;
		return (outage != null && tolerance(outage, waiter) <= 0) ? Denial.unavailable(outage.cause()) : null;
	}

	/**
	 * Return the denial for a waiter whose wait time is over during an outage, or
	 * {@code null} if there is none.
	 */
	@Nullable Denial denial() {
		return (this.outage != null) ? Denial.unavailable(this.outage.cause()) : null;
	}

	/**
	 * Return for how long a waiter still tolerates an outage. The time in which other
	 * waiters of this JVM have asked while it stood behind them counts as well.
	 */
	private long tolerance(Outage outage, Waiter waiter) {
		long tolerated = Math.min(this.terms.now() - outage.since(), waiter.waited().toNanos());
		return this.terms.outageTime() - tolerated;
	}

	/**
	 * A time in which the store has answered no question about the lock.
	 *
	 * @param since when the first of these questions was asked
	 * @param cause the failure of the last one
	 */
	private record Outage(long since, RuntimeException cause) {
	}

}
