// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;

/**
 * The time in which this JVM owns the lock in the store: its holders, and the hand-off
 * from one to the next. Guarded by the lock.
 *
 * <p>
 * Handing a lock on within a group of waiters that owns it follows Dice, Marathe and
 * Shavit, <a href="https://doi.org/10.1145/2145816.2145848">Lock Cohorting</a>.
 */
final class Possession {

	private final Terms terms;

	private final WaiterQueue queue;

	private final Inquiry inquiry;

	private final Holders holders = new Holders();

	/** The tenure in the store, which also lasts between two holds. */
	private @Nullable Tenure tenure;

	/** The hold that has ended while the store is asked whether another JVM waits. */
	private @Nullable Hold lastHold;

	private boolean releasing;

	Possession(Terms terms, WaiterQueue queue, Inquiry inquiry) {
		this.terms = terms;
		this.queue = queue;
		this.inquiry = inquiry;
	}

	Holders holders() {
		return this.holders;
	}

	/**
	 * Return the tenure in the store, or {@code null} if there is none.
	 */
	@Nullable Tenure tenure() {
		return this.tenure;
	}

	/**
	 * Return whether the lock is neither owned nor being released.
	 */
	boolean isIdle() {
		return this.tenure == null && !this.releasing;
	}

	/**
	 * Begin a tenure with its first hold.
	 */
	Hold begin(Waiter waiter, Tenure tenure) {
		this.tenure = tenure;
		this.inquiry.setOwn(tenure);
		return hold(waiter, tenure);
	}

	/**
	 * Begin a hold within a tenure; its waiter must still be woken.
	 */
	Hold hold(Waiter waiter, Tenure tenure) {
		Hold hold = tenure.beginHold(waiter, this.terms.leaseTimeFor(waiter), tenure.now());
		this.holders.add(hold);
		waiter.settle(hold);
		return hold;
	}

	/**
	 * An owner exits one level of its hold, and releases the lock with the last one.
	 */
	Effect exit(Hold hold) {
		if (!hold.leave()) {
			if (hold.isLost()) {
				this.holders.forgetIfAbandoned(hold);
			}
			return Effect.NONE;
		}
		if (!this.holders.remove(hold)) {
			return Effect.NONE;
		}
		long now = hold.tenure().now();
		hold.end(now);
		Effect ended = (hold.isLost() || hold.alarm() != null) ? (desk) -> desk.ended(hold) : Effect.NONE;
		if (!this.holders.isEmpty()) {
			return ended.and(othersHold(hold.tenure()));
		}
		if (hold.isKept()) {
			beginRelease();
			return ended.and((desk) -> desk.keep(hold));
		}
		return ended.and(passOn(hold, now, false));
	}

	/**
	 * The fixed lease time of a hold, or its longest time, is over, although its body
	 * still runs.
	 */
	Effect expire(Hold hold) {
		if (!this.holders.lose(hold, null)) {
			return Effect.NONE;
		}
		Effect ended = (desk) -> desk.ended(hold);
		if (!this.holders.isEmpty()) {
			return ended.and(othersHold(hold.tenure()));
		}
		return ended.and(passOn(hold, hold.tenure().now(), false));
	}

	private Effect othersHold(Tenure tenure) {
		if (tenure.leaseTime().compareTo(this.terms.leaseTime()) > 0) {
			tenure.shorten(this.holders.longestLeaseTime(this.terms.leaseTime()));
		}
		return (desk) -> desk.watch(tenure);
	}

	/**
	 * The question whether another JVM waits is answered after the last hold has ended.
	 * @return {@code null} if the last hold continues
	 */
	@Nullable Effect probed(Tenure tenure) {
		Hold last = this.lastHold;
		this.lastHold = null;
		return (last != null) ? passOn(last, tenure.now(), true) : null;
	}

	/**
	 * Hand the lock on within this JVM if possible, otherwise release it.
	 * @param asked whether the store was just asked if another JVM waits
	 */
	private Effect passOn(Hold hold, long now, boolean asked) {
		Tenure tenure = hold.tenure();
		if (!canHandOn(tenure, now)) {
			return release(tenure, hold);
		}
		if (!asked && tenure.mustAsk(now)) {
			this.lastHold = hold;
			return tenure.slice().beginAsking(now) ? (desk) -> desk.probe(tenure) : Effect.NONE;
		}
		Waiter next = this.queue.takeFirst();
		hold(next, tenure);
		this.terms.handedOff();
		boolean probing = tenure.slice().beginProbe(now);
		return (desk) -> {
			next.wake();
			desk.watch(tenure);
			if (probing) {
				desk.probe(tenure);
			}
		};
	}

	private boolean canHandOn(Tenure tenure, long now) {
		return !this.queue.isEmpty() && this.queue.first().discipline().takesHandOff()
				&& tenure.discipline().takesHandOff() && tenure.canBeHandedOn(now);
	}

	/**
	 * Release the lock in the store.
	 * @param hold the last hold of the tenure, or {@code null} if there was none
	 */
	Effect release(Tenure tenure, @Nullable Hold hold) {
		beginRelease();
		LockMode next = this.queue.nextMode();
		return (desk) -> desk.release(tenure, hold, next);
	}

	private void beginRelease() {
		forgetTenure();
		this.releasing = true;
		this.inquiry.releasing();
	}

	/**
	 * Note that the lock is released.
	 */
	void released() {
		this.releasing = false;
	}

	/**
	 * Return the warnings of long holds that are due.
	 */
	Effect warnOfHolds() {
		Effect all = Effect.NONE;
		Warnings warnings = this.terms.warnings();
		for (Hold hold : this.holders.current()) {
			if (hold.isWarningDue(warnings.dueOf(hold))) {
				all = all.and((desk) -> desk.warn(() -> warnings.longHold(hold)));
			}
		}
		return all;
	}

	/**
	 * The tenure was lost, and with it the lock for all its holders.
	 */
	Effect lose(Tenure tenure) {
		String reason = tenure.certainty().lossReason();
		List<Hold> lost = this.holders.loseAll(reason);
		// Its body has ended in time, unless the store says otherwise
		Hold last = this.lastHold;
		forgetTenure();
		Effect told = (last != null && reason != null && last.lose(reason)) ? (desk) -> desk.ended(last) : Effect.NONE;
		return told.and((desk) -> lost.forEach(desk::ended));
	}

	private void forgetTenure() {
		this.tenure = null;
		this.inquiry.setOwn(null);
		this.lastHold = null;
	}

}
