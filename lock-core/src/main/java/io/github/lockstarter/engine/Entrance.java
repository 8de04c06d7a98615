// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * The arrival and departure of waiters: an owner reenters its hold, a reader joins the
 * holders, and any other waiter queues. Guarded by the lock.
 */
final class Entrance {

	private final Terms terms;

	private final WaiterQueue queue;

	private final Inquiry inquiry;

	private final Possession possession;

	private final Sharing sharing;

	Entrance(Terms terms, WaiterQueue queue, Inquiry inquiry, Possession possession, Sharing sharing) {
		this.terms = terms;
		this.queue = queue;
		this.inquiry = inquiry;
		this.possession = possession;
		this.sharing = sharing;
	}

	/**
	 * Return whether the lock is held, or its store is being asked.
	 */
	boolean isInUse() {
		return this.inquiry.isSent() || this.inquiry.isListening() || !this.possession.isIdle();
	}

	/**
	 * Return whether the lock has no waiters and no holders here, except owners that have
	 * lost it.
	 */
	boolean isIdle() {
		return !this.inquiry.isAsking() && !this.inquiry.isListening() && this.possession.isIdle();
	}

	/**
	 * A waiter arrives.
	 */
	Effect arrive(Waiter waiter) {
		Hold own = this.possession.holders().of(waiter.owner());
		if (own != null) {
			return reenter(own, waiter);
		}
		waiter.setArrived();
		if (this.terms.isRefusing()) {
			waiter.settle(Denial.REFUSED);
			return Effect.NONE;
		}
		return queue(waiter);
	}

	private Effect queue(Waiter waiter) {
		boolean idle = isIdle();
		boolean first = this.queue.isEmpty();
		boolean free = idle || (first && this.inquiry.isAsking());
		if (!free && first && this.sharing.canJoin(waiter)) {
			return this.sharing.join(waiter);
		}
		boolean outOfTime = !free && waiter.isOutOfTime();
		if (outOfTime && canFollow(waiter)) {
			this.queue.add(waiter);
			return follow(waiter);
		}
		if (outOfTime && !sharesAnswer(waiter)) {
			waiter.settle(this.inquiry.denial());
			return Effect.NONE;
		}
		this.queue.add(waiter);
		if (outOfTime) {
			this.queue.setLast(waiter);
			return Effect.NONE;
		}
		if (idle) {
			return this.inquiry.ask();
		}
		if (waiter.discipline().standsInLineItself()) {
			return (desk) -> desk.enterLine(this.inquiry.key(), waiter);
		}
		return waiter.discipline().joinsHolders() ? this.sharing.lookLater() : Effect.NONE;
	}

	/**
	 * Return whether the answer that the first waiter waits for may also grant the lock
	 * to one behind it, or must come before there is a connection.
	 */
	private boolean sharesAnswer(Waiter waiter) {
		return this.inquiry.awaitsAnswer() && (this.inquiry.isConnecting()
				|| (waiter.discipline().joinsHolders() && this.queue.isBehindReadersOnly(waiter)));
	}

	/**
	 * Return whether at most the answer to the question whether another JVM waits keeps a
	 * waiter from joining the holders.
	 */
	private boolean canFollow(Waiter waiter) {
		return this.sharing.canJoin(waiter) && this.queue.isBehindReadersOnly(waiter);
	}

	/** Let a waiter that is out of time join at once, or by the next answer. */
	private Effect follow(Waiter waiter) {
		this.queue.setLast(waiter);
		return this.sharing.admit();
	}

	private Effect reenter(Hold own, Waiter waiter) {
		if (own.isHeld() && own.covers(waiter.mode())) {
			waiter.setReentered();
			waiter.settle(own.enter());
		}
		else if (own.isHeld()) {
			waiter.settle(Denial.misuse(upgrading(own, waiter)));
		}
		else if (!own.isLost()) {
			return (desk) -> desk.expire(own);
		}
		else {
			waiter.settle(Denial.misuse(own.loss()));
		}
		waiter.setArrived();
		return Effect.NONE;
	}

	private static IllegalStateException upgrading(Hold own, Waiter waiter) {
		return new IllegalStateException("Lock '" + own.key() + "' is held for reading and cannot be acquired in mode "
				+ waiter.mode() + " as well: two readers that tried would deadlock. Release it first (inside a"
				+ " transaction, a lock is held until that ends), or acquire the stronger mode first");
	}

	/**
	 * A waiter leaves.
	 * @param timedOut whether its wait time is over; otherwise it was interrupted or
	 * cancelled
	 */
	Effect leave(Waiter waiter, boolean timedOut) {
		if (!this.queue.contains(waiter)) {
			return Effect.NONE;
		}
		boolean head = this.queue.first() == waiter;
		boolean listening = this.inquiry.isListening();
		if (timedOut && head && listening && !this.inquiry.hasFailed()) {
			this.queue.setLast(waiter);
			return this.inquiry.ask();
		}
		if (timedOut && (head ? this.inquiry.isAnswerDue() : sharesAnswer(waiter))) {
			// Only the answer tells contention from an outage
			this.queue.setLast(waiter);
			return Effect.NONE;
		}
		if (timedOut && canFollow(waiter)) {
			return follow(waiter);
		}
		Effect left = this.queue.deny(waiter, timedOut ? this.inquiry.denial() : Denial.LEFT);
		return left.and((head && listening) ? this.inquiry.proceed() : this.sharing.admit());
	}

	/**
	 * A waiter arrives for several locks that are acquired by one request.
	 * @return whether it has reserved or reentered the lock, because there is no other
	 * waiter or holder
	 */
	boolean reserve(Waiter waiter, Attempt attempt) {
		Hold own = this.possession.holders().of(waiter.owner());
		if (own != null) {
			return own.isHeld() && own.covers(waiter.mode()) && reenter(own, waiter) == Effect.NONE;
		}
		if (!isIdle()) {
			return false;
		}
		waiter.setArrived();
		this.queue.add(waiter);
		this.inquiry.reserve(attempt);
		return true;
	}

}
