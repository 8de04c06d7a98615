// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

/**
 * One lock inside this JVM, from its first caller to its last: who has the turn, which is
 * to deal with the store and then to hold the lock, and who waits for it, first come
 * first served. A holder that leaves hands the lock on to the next of them if it may.
 *
 * <p>
 * An entry without a turn, and without a body that has yet to learn that it lost the
 * lock, is over: it is out of the map and never used again. The guard is never held while
 * the store or user code runs.
 *
 * <p>
 * Handing a lock that is owned by the whole group on within the group follows Dice,
 * Marathe and Shavit, <a href="https://doi.org/10.1145/2145816.2145848">Lock
 * Cohorting</a>.
 */
final class LocalEntry {

	private final LockKey key;

	private final LocalEntries entries;

	private final Duration defaultLeaseTime;

	private final ReentrantLock guard = new ReentrantLock();

	private final Set<LocalWaiter> queue = new LinkedHashSet<>();

	private final Holders holders = new Holders();

	private final StoreBell bell = new StoreBell();

	private boolean taken;

	private boolean over;

	private boolean admitting;

	private @Nullable Tenure tenure;

	/** Set only by the caller that has the turn. */
	private volatile @Nullable Outage outage;

	LocalEntry(LockKey key, LocalEntries entries, Duration defaultLeaseTime) {
		this.key = key;
		this.entries = entries;
		this.defaultLeaseTime = defaultLeaseTime;
	}

	LockKey key() {
		return this.key;
	}

	/**
	 * Return the bell that rings when the store says that the lock may be free.
	 */
	StoreBell bell() {
		return this.bell;
	}

	/**
	 * Return the outage that the caller with the turn is up against, if there is one.
	 */
	@Nullable Outage outage() {
		return this.outage;
	}

	void setOutage(@Nullable Outage outage) {
		this.outage = outage;
	}

	/**
	 * Come to the lock.
	 * @return {@code null} if this entry is over and the caller has to look for another
	 */
	@Nullable Arrival arrive(Caller caller) {
		return arrive(caller, false);
	}

	/**
	 * Come to the lock.
	 * @param asked whether the caller has just asked whether another JVM waits
	 * @return {@code null} if this entry is over and the caller has to look for another
	 */
	@Nullable Arrival arrive(Caller caller, boolean asked) {
		this.guard.lock();
		try {
			if (this.over) {
				return null;
			}
			Hold own = this.holders.of(caller.owner());
			if (own != null) {
				boolean upgrading = !own.covers(caller.mode()) && own.isHeld();
				return upgrading ? Arrival.UPGRADING : new Arrival.Reentered(own.enter());
			}
			if (!this.taken) {
				this.taken = true;
				return Arrival.TAKEN;
			}
			if (this.queue.isEmpty() && canJoin(caller)) {
				Tenure shared = Objects.requireNonNull(this.tenure);
				return (asked || !shared.mustAsk(shared.now())) ? new Arrival.Joined(join(caller))
						: new Arrival.Asking(shared);
			}
			if (caller.isOutOfTime()) {
				return Arrival.CONTENDED;
			}
			LocalWaiter waiter = new LocalWaiter(caller);
			this.queue.add(waiter);
			return new Arrival.Queued(waiter);
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Leave the queue.
	 * @return {@code null}, or the turn if it came in the same instant
	 */
	@Nullable Turn leave(LocalWaiter waiter) {
		List<LocalWaiter> joined = List.of();
		this.guard.lock();
		try {
			if (!this.queue.remove(waiter)) {
				return waiter.turn();
			}
			joined = (readersTenure() == null) ? joinFromQueue() : joined;
			return null;
		}
		finally {
			this.guard.unlock();
			joined.forEach(LocalWaiter::wake);
		}
	}

	/**
	 * Turn the turn into a hold, which the next callers share if they may.
	 */
	Hold begin(Tenure tenure, Caller caller) {
		List<LocalWaiter> joined = List.of();
		this.guard.lock();
		try {
			this.tenure = tenure;
			Hold hold = join(caller);
			joined = joinFromQueue();
			return hold;
		}
		finally {
			this.guard.unlock();
			joined.forEach(LocalWaiter::wake);
		}
	}

	/**
	 * Let the first of the queue share the lock with those who hold it, if they may by
	 * now.
	 */
	void admit() {
		List<LocalWaiter> joined = List.of();
		this.guard.lock();
		try {
			joined = joinFromQueue();
		}
		finally {
			this.guard.unlock();
			joined.forEach(LocalWaiter::wake);
		}
	}

	/**
	 * Return the tenure that the first of the queue would share if it were known that no
	 * other JVM waits, or {@code null} if there is none.
	 */
	@Nullable Tenure tenureToAskFor() {
		this.guard.lock();
		try {
			return readersTenure();
		}
		finally {
			this.guard.unlock();
		}
	}

	private @Nullable Tenure readersTenure() {
		Tenure tenure = sharedTenure();
		return (tenure != null && tenure.mustAsk(tenure.now()) && !this.queue.isEmpty()
				&& canJoin(this.queue.iterator().next().caller())) ? tenure : null;
	}

	/**
	 * Return whether it is up to the caller to {@linkplain #admit() admit} those who
	 * wait, from now on until there is no {@linkplain #tenureThatReadersWaitFor() tenure}
	 * for them.
	 */
	boolean beginAdmission() {
		this.guard.lock();
		try {
			boolean begin = !this.admitting && sharedTenure() != null && hasReaderInQueue();
			this.admitting |= begin;
			return begin;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Return the tenure that readers of the queue could share, or {@code null} if there
	 * is none, and then nobody admits any more.
	 */
	@Nullable Tenure tenureThatReadersWaitFor() {
		this.guard.lock();
		try {
			Tenure tenure = sharedTenure();
			this.admitting = tenure != null && hasReaderInQueue();
			return this.admitting ? tenure : null;
		}
		finally {
			this.guard.unlock();
		}
	}

	private @Nullable Tenure sharedTenure() {
		Tenure tenure = this.tenure;
		return (tenure != null && tenure.isShared()) ? tenure : null;
	}

	private boolean hasReaderInQueue() {
		for (LocalWaiter waiter : this.queue) {
			if (waiter.caller().mode().isShared()) {
				return true;
			}
		}
		return false;
	}

	private List<LocalWaiter> joinFromQueue() {
		List<LocalWaiter> joined = new ArrayList<>(0);
		while (!this.queue.isEmpty() && canJoin(this.queue.iterator().next().caller())) {
			LocalWaiter next = takeFirst();
			next.give(join(next.caller()));
			joined.add(next);
		}
		return joined;
	}

	private boolean canJoin(Caller caller) {
		Tenure tenure = sharedTenure();
		return tenure != null && caller.mode().isShared() && tenure.canBeHandedOn(tenure.now());
	}

	private Hold join(Caller caller) {
		Tenure tenure = Objects.requireNonNull(this.tenure);
		Hold hold = tenure.beginHold(caller, leaseTimeFor(caller), tenure.now());
		this.holders.add(hold);
		return hold;
	}

	/**
	 * Return the length of the lease that a caller wants.
	 */
	Duration leaseTimeFor(Caller caller) {
		Duration fixed = caller.fixedLeaseTime();
		return (fixed != null) ? fixed : this.defaultLeaseTime;
	}

	@Nullable Hold holdOf(Object owner) {
		this.guard.lock();
		try {
			return this.holders.of(owner);
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Leave one level of a hold, and the lock with the last one.
	 */
	Departure exit(Hold hold) {
		LocalWaiter next = null;
		this.guard.lock();
		try {
			if (!hold.leave()) {
				if (hold.isLost()) {
					this.holders.forgetIfAbandoned(hold);
					endIfIdle();
				}
				return Departure.DONE;
			}
			if (!this.holders.remove(hold)) {
				endIfIdle();
				return Departure.DONE;
			}
			long now = hold.tenure().now();
			hold.end(now);
			if (!this.holders.isEmpty()) {
				return left(hold.tenure());
			}
			if (!hold.isLost() && hold.keptUntil() - now > 0) {
				this.tenure = null;
				return Departure.KEEP;
			}
			if (hold.tenure().mustAsk(now) && canHandOn(hold.tenure(), now)) {
				return Departure.ASK_FIRST;
			}
			next = handOn(hold.tenure(), now);
			return (next != null) ? Departure.HANDED_ON : Departure.GIVE_BACK;
		}
		finally {
			this.guard.unlock();
			wake(next);
		}
	}

	/**
	 * Take the lock from a hold whose fixed lease time is over, though its body still
	 * runs.
	 */
	Departure expire(Hold hold) {
		LocalWaiter next = null;
		this.guard.lock();
		try {
			if (!this.holders.lose(hold, null)) {
				return Departure.DONE;
			}
			if (!this.holders.isEmpty()) {
				return left(hold.tenure());
			}
			long now = hold.tenure().now();
			if (hold.tenure().mustAsk(now) && canHandOn(hold.tenure(), now)) {
				return Departure.ASK_FIRST;
			}
			next = handOn(hold.tenure(), now);
			return (next != null) ? Departure.HANDED_ON : Departure.GIVE_BACK;
		}
		finally {
			this.guard.unlock();
			wake(next);
		}
	}

	/**
	 * Go on after a departure that had to {@linkplain Departure#ASK_FIRST ask first}.
	 */
	Departure goOn(Tenure tenure) {
		LocalWaiter next = null;
		this.guard.lock();
		try {
			if (this.tenure != tenure) {
				return Departure.DONE;
			}
			next = handOn(tenure, tenure.now());
			return (next != null) ? Departure.HANDED_ON : Departure.GIVE_BACK;
		}
		finally {
			this.guard.unlock();
			wake(next);
		}
	}

	private Departure left(Tenure tenure) {
		if (tenure.leaseTime().compareTo(this.defaultLeaseTime) > 0) {
			tenure.shorten(this.holders.longestLeaseTime(this.defaultLeaseTime));
		}
		return Departure.LEFT;
	}

	/**
	 * Take the lock from all who hold it within a tenure that was lost, and let the next
	 * caller ask the store.
	 * @return whose it was
	 */
	List<Hold> lose(Tenure tenure) {
		LocalWaiter next = null;
		this.guard.lock();
		try {
			if (this.tenure != tenure) {
				return List.of();
			}
			this.tenure = null;
			List<Hold> lost = this.holders.loseAll(tenure.lossReason());
			next = passOn(StoreTurn.ASK);
			return lost;
		}
		finally {
			this.guard.unlock();
			wake(next);
		}
	}

	/**
	 * Return how the next waiter wants the lock, or {@code null} if nobody waits.
	 */
	@Nullable LockMode nextMode() {
		this.guard.lock();
		try {
			return this.queue.isEmpty() ? null : this.queue.iterator().next().caller().mode();
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Give the turn to the next waiter, or end it.
	 * @param turn what the next waiter finds
	 * @return whether there was one
	 */
	boolean passOnOrEnd(StoreTurn turn) {
		LocalWaiter next = null;
		this.guard.lock();
		try {
			next = passOn(turn);
			return next != null;
		}
		finally {
			this.guard.unlock();
			wake(next);
		}
	}

	/**
	 * End the wait of all, also of the one that deals with the store.
	 */
	void refuseWaiters() {
		List<LocalWaiter> refused;
		this.guard.lock();
		try {
			refused = List.copyOf(this.queue);
			this.queue.clear();
			refused.forEach((waiter) -> waiter.give(StoreTurn.REFUSED));
		}
		finally {
			this.guard.unlock();
		}
		refused.forEach(LocalWaiter::wake);
		this.bell.wake();
	}

	/**
	 * Return whether somebody holds the lock, and not only waits for it.
	 */
	boolean isHeld() {
		this.guard.lock();
		try {
			return !this.holders.isEmpty();
		}
		finally {
			this.guard.unlock();
		}
	}

	private @Nullable LocalWaiter handOn(Tenure tenure, long now) {
		if (!canHandOn(tenure, now)) {
			this.tenure = null;
			return null;
		}
		LocalWaiter next = takeFirst();
		next.give(join(next.caller()));
		return next;
	}

	private boolean canHandOn(Tenure tenure, long now) {
		return !this.queue.isEmpty() && tenure.canBeHandedOn(now)
				&& tenure.isFor(this.queue.iterator().next().caller().mode());
	}

	private @Nullable LocalWaiter passOn(StoreTurn turn) {
		if (this.queue.isEmpty()) {
			this.taken = false;
			this.outage = null;
			endIfIdle();
			return null;
		}
		LocalWaiter next = takeFirst();
		next.give(turn);
		return next;
	}

	private LocalWaiter takeFirst() {
		LocalWaiter first = this.queue.iterator().next();
		this.queue.remove(first);
		return first;
	}

	private void endIfIdle() {
		if (!this.taken && !this.holders.hasLost()) {
			this.over = true;
			this.entries.remove(this);
		}
	}

	private static void wake(@Nullable LocalWaiter waiter) {
		if (waiter != null) {
			waiter.wake();
		}
	}

}
