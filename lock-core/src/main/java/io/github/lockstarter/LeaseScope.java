// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * The part of a thread's work that runs under a lease.
 */
final class LeaseScope implements AutoCloseable {

	final LeaseSet lease;

	final ScopeTerms terms;

	/** Used by the thread that entered this scope only. */
	@Nullable LeaseScope outer;

	/**
	 * Whether the time of a fixed lease is over, or {@code null} for a lease that is
	 * renewed. Used by the thread that entered this scope only.
	 */
	@Nullable BooleanSupplier expired;

	volatile boolean left;

	volatile boolean ended;

	LeaseScope(LeaseSet lease, ScopeTerms terms, @Nullable LeaseScope outer) {
		this.lease = lease;
		this.terms = terms;
		this.outer = outer;
	}

	LeaseSet lease() {
		return this.lease;
	}

	boolean lossMatters() {
		return this.terms.lossMatters();
	}

	void endIfExpired() {
		if (this.expired != null && this.expired.getAsBoolean() && !this.lease.isHeld()) {
			this.ended = true;
		}
	}

	/**
	 * Leave the body; the lease must be held until the transaction is completed.
	 */
	void leave() {
		this.left = true;
	}

	/**
	 * End the scope: the lease may be closed.
	 */
	@Override
	public void close() {
		this.left = true;
		this.ended = true;
		LeaseContext.forgetEnded();
	}

}
