// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockAttempt;

/**
 * One lock inside this JVM, from its first waiter to its last. The lock asks the store,
 * and its waiters only wait for the lock, first in first out.
 *
 * <p>
 * Each transition happens under the guard, which is never held while the store or user
 * code runs, and returns what remains to be done as an {@link Effect}. A lock that is
 * idle, and whose former owners have all noticed their losses, is over: it is removed
 * from the map and never used again.
 */
final class LocalLock {

	private final LockKey key;

	private final Consumer<LocalLock> idle;

	private final ReentrantLock guard = new ReentrantLock();

	private final WaiterQueue queue = new WaiterQueue();

	private final Inquiry inquiry;

	private final Possession possession;

	private final Sharing sharing;

	private final Entrance entrance;

	private boolean over;

	/**
	 * Create an idle lock.
	 * @param idle called when the lock is idle, under its guard
	 */
	LocalLock(LockKey key, Terms terms, Consumer<LocalLock> idle) {
		this.key = key;
		this.idle = idle;
		this.inquiry = new Inquiry(key, terms, this.queue);
		this.possession = new Possession(terms, this.queue, this.inquiry);
		this.sharing = new Sharing(this.queue, this.possession);
		this.entrance = new Entrance(terms, this.queue, this.inquiry, this.possession, this.sharing);
	}

	LockKey key() {
		return this.key;
	}

	/**
	 * A waiter arrives. Afterwards it {@linkplain Waiter#hasArrived() has arrived}, or it
	 * must come again.
	 */
	Effect arrive(Waiter waiter) {
		return change(() -> this.over ? Effect.NONE : this.entrance.arrive(waiter));
	}

	/**
	 * A waiter leaves, unless it already has its outcome. If its wait time ends while the
	 * store is being asked on its behalf, it waits for that answer until it is overdue.
	 * @param timedOut whether its wait time is over; otherwise it was interrupted or
	 * cancelled
	 */
	Effect leave(Waiter waiter, boolean timedOut) {
		return change(() -> this.entrance.leave(waiter, timedOut));
	}

	/**
	 * The store has granted the lock.
	 * @param tenure the tenure that the grant begins
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
				return this.possession.release(tenure, null);
			}
			Waiter head = this.queue.takeFirst();
			this.possession.begin(head, tenure);
			Effect held = (desk) -> {
				head.wake();
				desk.watch(tenure);
			};
			Effect joined = tenure.isShared() ? this.sharing.admitNow().and(this.sharing.lookLater()) : Effect.NONE;
			return held.and(joined).and(this.queue.denyLast(this.inquiry::contended));
		});
	}

	/**
	 * The store has granted a request that was given up, so that it must be given back
	 * unless the same attempt owns the lock by now.
	 */
	Effect grantedLate(Attempt attempt) {
		return change(() -> {
			if (this.inquiry.grantedLate(attempt)) {
				return Effect.NONE;
			}
			Tenure tenure = this.possession.tenure();
			Long until = attempt.uncertainUntil();
			if (tenure != null && until != null && tenure.owner().equals(attempt.token())) {
				tenure.certainty().uncertainUntil(until);
				return Effect.NONE;
			}
			return (desk) -> desk.orphan(this.key, attempt);
		});
	}

	/**
	 * The answer to the request under way is overdue.
	 */
	Effect overdue(Attempt attempt) {
		return change(() -> this.inquiry.overdue(attempt));
	}

	Effect refused(Attempt attempt, LockAttempt.Refusal refusal) {
		return change(() -> this.inquiry.refused(attempt, refusal));
	}

	Effect failed(Attempt attempt, RuntimeException failure, @Nullable Waiter interrupted) {
		return change(() -> this.inquiry.failed(attempt, failure, interrupted));
	}

	/**
	 * The store was not asked, because the waiter has left before.
	 */
	Effect notAsked() {
		return change(() -> {
			this.inquiry.abandon();
			return this.inquiry.proceed();
		});
	}

	Effect rung() {
		return change(this.inquiry::rung);
	}

	/**
	 * A message says that the lock is free. If this JVM believes to own it, somebody else
	 * may have freed it, so the store is asked at once.
	 */
	Effect announced() {
		return change(() -> {
			Tenure tenure = this.possession.tenure();
			Effect rung = this.inquiry.rung();
			return (tenure != null) ? rung.and((desk) -> desk.hasten(tenure)) : rung;
		});
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
	 * The lock was released or kept, and its next waiter may ask.
	 * @param inLine whether this JVM stands in the line of the store, and will be
	 * notified when it is its turn
	 */
	Effect returned(boolean inLine) {
		return change(() -> {
			this.possession.released();
			return this.inquiry.resume(inLine);
		});
	}

	/**
	 * The question whether another JVM waits is answered, or has failed.
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
			return this.sharing.admitNow().and(this.queue.denyLast(this.inquiry::denial));
		});
	}

	/**
	 * A tenure was lost, and with it the lock for all its holders.
	 */
	Effect lose(Tenure tenure) {
		return change(() -> (this.possession.tenure() == tenure)
				? this.possession.lose(tenure).and(this.inquiry.proceed()) : Effect.NONE);
	}

	Effect look() {
		return change(this.sharing::look);
	}

	/**
	 * The watchdog has looked at the lock, so warnings may be due. If the guard is taken
	 * there are none this time, because the watchdog never waits for it.
	 */
	Effect seen() {
		if (!this.guard.tryLock()) {
			return Effect.NONE;
		}
		try {
			return this.possession.warnOfHolds().and(this.inquiry.warnOfWait());
		}
		finally {
			this.guard.unlock();
		}
	}

	Effect refuse() {
		return change(() -> {
			Effect denied = this.queue.denyAll(Denial.REFUSED);
			return this.inquiry.isListening() ? denied.and(this.inquiry.end()) : denied;
		});
	}

	/**
	 * A waiter arrives for several locks that are acquired by one request. If it has
	 * reserved this lock, {@link #granted} or {@link #abandon} comes next.
	 * @return whether it has reserved or reentered the lock, because there is no other
	 * waiter or holder; {@code null} if this lock is over and the waiter must look for a
	 * new one
	 */
	@Nullable Boolean reserve(Waiter waiter, Attempt attempt) {
		return read(() -> this.over ? null : (Boolean) this.entrance.reserve(waiter, attempt));
	}

	/**
	 * A waiter gives up its reservation of this lock.
	 */
	Effect abandon(Waiter waiter) {
		return change(() -> {
			this.inquiry.abandon();
			return this.queue.deny(waiter, Denial.LEFT).and(this.inquiry.proceed());
		});
	}

	/**
	 * Return whether the lock is held, and not only waited for.
	 */
	boolean isHeld() {
		return read(() -> !this.possession.holders().isEmpty());
	}

	/**
	 * Return whether the lock is held, or the store is being asked for it.
	 */
	boolean isInUse() {
		return read(this.entrance::isInUse);
	}

	/** Called under the guard. */
	boolean isOver() {
		return this.over;
	}

	/**
	 * Return who holds the lock and who waits for it in this JVM.
	 */
	Users users() {
		return read(() -> new Users(this.possession.holders().all(), this.queue.all(),
				Denial.holder(this.inquiry.contended())));
	}

	/**
	 * Return the tenure in the store, or {@code null} if there is none.
	 */
	@Nullable Tenure tenure() {
		return read(this.possession::tenure);
	}

	private <T extends @Nullable Object> T read(Supplier<T> state) {
		this.guard.lock();
		try {
			return state.get();
		}
		finally {
			this.guard.unlock();
		}
	}

	private Effect change(Supplier<Effect> transition) {
		this.guard.lock();
		try {
			Effect effect = transition.get();
			if (!this.over && this.entrance.isIdle()) {
				this.over = !this.possession.holders().hasLost();
				if (this.over) {
					this.inquiry.park();
				}
				this.idle.accept(this);
			}
			return effect;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * The users of a lock at a moment.
	 *
	 * @param holds its holds, with those that are lost without their owner having noticed
	 * @param waiters its waiters, the first one first
	 * @param holder the instance that held it at the last answer of the store, or
	 * {@code null} if it is not known
	 */
	record Users(List<Hold> holds, List<Waiter> waiters, @Nullable String holder) {
	}

}
