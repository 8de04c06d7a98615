// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockRefusal;

/**
 * One lock inside this JVM, from its first waiter to its last. The lock asks the store,
 * and its waiters only wait for the lock, first in first out.
 *
 * <p>
 * Each transition happens under the guard, which is never held while the store or user
 * code runs, and returns what is left to be done as an {@link Effect}. A lock that is
 * idle, without a body that has yet to learn that it lost the lock, is over: it is out of
 * the map and never used again.
 */
final class LocalLock {

	private final LockKey key;

	private final Terms terms;

	private final Consumer<LocalLock> end;

	private final ReentrantLock guard = new ReentrantLock();

	private final WaiterQueue queue = new WaiterQueue();

	private final Inquiry inquiry;

	private final Possession possession;

	private final Sharing sharing;

	private boolean over;

	/**
	 * Create an idle lock.
	 * @param end called when it is over, under its guard
	 */
	LocalLock(LockKey key, Terms terms, Consumer<LocalLock> end) {
		this.key = key;
		this.terms = terms;
		this.end = end;
		this.inquiry = new Inquiry(key, terms, this.queue);
		this.possession = new Possession(terms, this.queue, this.inquiry);
		this.sharing = new Sharing(key, this.queue, this.possession);
	}

	LockKey key() {
		return this.key;
	}

	/**
	 * A waiter comes. It has {@linkplain Waiter#hasArrived() arrived} afterwards, or has
	 * to come again.
	 */
	Effect arrive(Waiter waiter) {
		return change(() -> {
			if (this.over) {
				return Effect.NONE;
			}
			Hold own = this.possession.holders().of(waiter.owner());
			if (own != null) {
				return this.possession.reenter(own, waiter);
			}
			waiter.setArrived();
			if (this.terms.isRefusing()) {
				waiter.settle(Denial.REFUSED);
				return Effect.NONE;
			}
			return queue(waiter);
		});
	}

	private Effect queue(Waiter waiter) {
		boolean idle = isIdle();
		boolean first = this.queue.isEmpty();
		boolean free = idle || (first && this.inquiry.isAsking());
		if (!free && first && this.sharing.canJoin(waiter)) {
			return this.sharing.join(waiter);
		}
		if (!free && waiter.isOutOfTime()) {
			waiter.settle(this.inquiry.denial());
			return Effect.NONE;
		}
		this.queue.add(waiter);
		if (idle) {
			return this.inquiry.ask();
		}
		if (waiter.discipline().standsInLineItself()) {
			return (desk) -> desk.enterLine(this.key, waiter);
		}
		return waiter.discipline().joinsHolders() ? this.sharing.lookLater() : Effect.NONE;
	}

	/**
	 * A waiter leaves, unless it has its outcome already. One that is out of time while
	 * the store is being asked for it waits for that answer.
	 * @param timedOut whether it is out of time; else it was interrupted or cancelled
	 */
	Effect leave(Waiter waiter, boolean timedOut) {
		return change(() -> {
			if (!this.queue.contains(waiter)) {
				return Effect.NONE;
			}
			boolean head = this.queue.first() == waiter;
			boolean listening = this.inquiry.isListening();
			if (timedOut && head && listening && !this.inquiry.hasFailed()) {
				return this.inquiry.ask();
			}
			if (timedOut && head && (this.inquiry.isAsking() || this.sharing.mustAsk())) {
				waiter.setLast();
				return Effect.NONE;
			}
			Effect left = this.queue.deny(waiter, timedOut ? this.inquiry.denial() : Denial.LEFT);
			return left.and((head && listening) ? this.inquiry.proceed() : this.sharing.admit());
		});
	}

	/**
	 * The store has granted the lock.
	 * @param tenure what the grant begins
	 */
	Effect granted(Attempt attempt, Tenure tenure) {
		return change(() -> {
			if (!tenure.isHeld()) {
				return this.inquiry.grantedTooLate(attempt);
			}
			if (attempt.uncertainUntil() != null) {
				tenure.certainty().uncertainUntil(attempt.uncertainUntil());
			}
			if (!this.inquiry.granted(attempt)) {
				return this.possession.giveBack(tenure, null);
			}
			Waiter head = this.queue.takeFirst();
			this.possession.begin(head, tenure);
			Effect held = (desk) -> {
				head.wake();
				desk.watch(tenure);
			};
			return tenure.isShared() ? held.and(this.sharing.admitNow()).and(this.sharing.lookLater()) : held;
		});
	}

	Effect refused(Attempt attempt, LockRefusal refusal) {
		return change(() -> this.inquiry.refused(attempt, refusal));
	}

	Effect failed(Attempt attempt, RuntimeException failure, @Nullable Waiter interrupted) {
		return change(() -> this.inquiry.failed(attempt, failure, interrupted));
	}

	Effect rung() {
		return change(this.inquiry::rung);
	}

	Effect alarm(Alarm alarm) {
		return change(() -> this.inquiry.alarm(alarm));
	}

	Effect exit(Hold hold) {
		return change(() -> this.possession.exit(hold));
	}

	Effect expire(Hold hold) {
		return change(() -> this.possession.expire(hold));
	}

	/**
	 * The lock was released or kept, and its next waiter may go on.
	 * @param inLine whether this JVM stands in the line of the store, and will be told
	 * when it is its turn
	 */
	Effect returned(boolean inLine) {
		return change(() -> {
			this.possession.released();
			return this.inquiry.resume(inLine);
		});
	}

	/**
	 * The question whether another JVM waits is answered, or will not be.
	 */
	Effect probed(Tenure tenure) {
		return change(() -> {
			if (this.possession.tenure() != tenure) {
				return Effect.NONE;
			}
			Effect passedOn = this.possession.probed(tenure);
			if (passedOn != null) {
				return passedOn;
			}
			Effect admitted = this.sharing.admitNow();
			while (!this.queue.isEmpty() && this.queue.first().isLast()) {
				admitted = admitted.and(this.queue.deny(this.queue.first(), this.inquiry.denial()));
			}
			return admitted;
		});
	}

	/**
	 * A tenure was lost, and the lock with it for all that hold it.
	 */
	Effect lose(Tenure tenure) {
		return change(() -> (this.possession.tenure() == tenure)
				? this.possession.lose(tenure).and(this.inquiry.proceed()) : Effect.NONE);
	}

	Effect look() {
		return change(this.sharing::look);
	}

	Effect refuse() {
		return change(() -> {
			Effect denied = this.queue.denyAll(Denial.REFUSED);
			return this.inquiry.isListening() ? denied.and(this.inquiry.end()) : denied;
		});
	}

	/**
	 * A waiter comes for several locks at once, which are asked for by one request. If it
	 * has reserved this lock, {@link #granted} or {@link #abandon} comes next.
	 * @return whether it has reserved the lock or reentered it, as nobody else is here;
	 * or {@code null} if this lock is over and the waiter has to look for another
	 */
	@Nullable Boolean reserve(Waiter waiter, Attempt attempt) {
		this.guard.lock();
		try {
			if (this.over) {
				return null;
			}
			Hold own = this.possession.holders().of(waiter.owner());
			if (own != null) {
				return own.isHeld() && own.covers(waiter.mode()) && this.possession.reenter(own, waiter) == Effect.NONE;
			}
			if (!isIdle()) {
				return false;
			}
			waiter.setArrived();
			this.queue.add(waiter);
			this.inquiry.reserve(attempt);
			return true;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * A waiter that has reserved this lock gives it up.
	 */
	Effect abandon(Waiter waiter) {
		return change(() -> {
			this.inquiry.abandon();
			return this.queue.deny(waiter, Denial.LEFT).and(this.inquiry.proceed());
		});
	}

	/**
	 * Return what an owner holds of this lock, or has lost, or {@code null}.
	 */
	@Nullable Hold holdOf(Object owner) {
		this.guard.lock();
		try {
			return this.possession.holders().of(owner);
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Return whether somebody holds the lock, and not only waits for it.
	 */
	boolean isHeld() {
		this.guard.lock();
		try {
			return !this.possession.holders().isEmpty();
		}
		finally {
			this.guard.unlock();
		}
	}

	private Effect change(Supplier<Effect> transition) {
		this.guard.lock();
		try {
			Effect effect = transition.get();
			if (!this.over && isIdle() && !this.possession.holders().hasLost()) {
				this.over = true;
				this.end.accept(this);
			}
			return effect;
		}
		finally {
			this.guard.unlock();
		}
	}

	private boolean isIdle() {
		return !this.inquiry.isAsking() && !this.inquiry.isListening() && this.possession.isIdle();
	}

}
