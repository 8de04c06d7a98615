// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The waiting line of a lock. The rules are those of the Redis scripts, for JVMs at the
 * same distance. A JVM that was told that it is its turn keeps its place until the lock
 * is granted, and a free lock is reserved for it for a moment. If it does not come, it is
 * passed over with all its places.
 */
final class MemoryQueue {

	private final LockMemory memory;

	private final List<MemoryPlace> places = new ArrayList<>();

	private final Set<MemoryPlace> told = new HashSet<>();

	private @Nullable MemoryPlace turn;

	private long turnEnds;

	MemoryQueue(LockMemory memory) {
		this.memory = memory;
	}

	boolean isEmpty() {
		return this.places.isEmpty();
	}

	/**
	 * Return the names of those that wait, the first one first.
	 */
	List<String> names() {
		return this.places.stream().map(MemoryPlace::name).toList();
	}

	void add(MemoryPlace place) {
		this.told.remove(place);
		int other = place.isInOrderOfArrival() ? -1 : this.places.indexOf(place.other());
		if (this.places.contains(place)) {
			return;
		}
		if (other >= 0) {
			this.told.remove(this.places.set(other, place));
		}
		else {
			this.places.add(place);
		}
	}

	/**
	 * Add the place for which a JVM has asked and was refused. The JVM is not late, for
	 * whichever of its places it was told.
	 */
	void refused(MemoryPlace place) {
		this.told.removeIf((each) -> each.jvm() == place.jvm());
		add(place);
	}

	/**
	 * Remove the place that was granted the lock, or another one of the same JVM in its
	 * stead: each JVM admits its own waiters in FIFO order.
	 */
	void leave(MemoryPlace place) {
		MemoryPlace next = turn();
		int own = this.places.indexOf(place);
		if (next != null && next.jvm() == place.jvm()) {
			this.turn = null;
			this.told.remove(next);
			int first = this.places.indexOf(next);
			if (own > first && first >= 0 && place.isInOrderOfArrival()) {
				this.places.set(own, next);
				this.places.set(first, place);
			}
		}
		remove(place);
		if (!place.isInOrderOfArrival()) {
			remove(place.other());
		}
	}

	/**
	 * Remove a place that is withdrawn.
	 * @return whether nobody has the turn any more
	 */
	boolean withdraw(MemoryPlace place) {
		MemoryPlace next = turn();
		remove(place);
		boolean own = place.equals(next);
		if (!place.isInOrderOfArrival()) {
			remove(place.other());
			if (next != null && next.jvm() == place.jvm()) {
				remove(next);
				own = true;
			}
		}
		if (own) {
			this.turn = null;
		}
		return own || next == null;
	}

	private void remove(MemoryPlace place) {
		this.places.remove(place);
		this.told.remove(place);
	}

	/**
	 * Return for how long a free lock is reserved for another place, or {@code null}.
	 * @param newlyTold collects the stores to notify
	 */
	@Nullable Duration precedenceOver(MemoryPlace place, Collection<MemoryLockStore> newlyTold) {
		if (turn() == null && place.isInOrderOfArrival() && !this.places.isEmpty()
				&& this.places.get(0).jvm() != place.jvm()) {
			wake(place.jvm(), newlyTold);
		}
		MemoryPlace next = turn();
		if (next == null || next.jvm() == place.jvm() || (place.shared() && next.shared())) {
			return null;
		}
		return Duration.ofNanos(this.turnEnds - this.memory.now());
	}

	/**
	 * Return whether an exclusive waiter stands before a place.
	 */
	boolean isBehindWriter(MemoryPlace place) {
		for (MemoryPlace each : this.places) {
			if (each.jvm() == place.jvm()) {
				return false;
			}
			if (!each.shared() && !this.told.contains(each)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Tell the first place that listens that it is its turn, and with a reader the
	 * readers next to it. Another JVM that was told before and has not come is passed
	 * over.
	 * @param jvm the JVM that asks
	 * @param newlyTold collects the stores to notify
	 */
	void wake(MemoryLockStore jvm, Collection<MemoryLockStore> newlyTold) {
		Set<MemoryLockStore> late = new HashSet<>();
		int rank = 0;
		while (rank < this.places.size()) {
			MemoryPlace next = this.places.get(rank);
			if (!next.jvm().listens()) {
				remove(next);
			}
			else if (next.jvm() != jvm && (this.told.contains(next) || late.contains(next.jvm()))) {
				late.add(next.jvm());
				rank++;
			}
			else {
				this.told.add(next);
				this.turn = next;
				this.turnEnds = this.memory.endOfReservation();
				newlyTold.add(next.jvm());
				if (next.shared()) {
					tellReaders(rank + 1, newlyTold);
				}
				return;
			}
		}
	}

	/**
	 * Tell adjacent readers that it is their turn.
	 * @param rank the rank of the first of them
	 * @param newlyTold collects the stores to notify
	 */
	void tellReaders(int rank, Collection<MemoryLockStore> newlyTold) {
		for (int i = rank; i < this.places.size() && this.places.get(i).shared(); i++) {
			if (this.told.add(this.places.get(i))) {
				newlyTold.add(this.places.get(i).jvm());
			}
		}
	}

	private @Nullable MemoryPlace turn() {
		if (this.turn != null && this.turnEnds - this.memory.now() <= 0) {
			this.turn = null;
		}
		return this.turn;
	}

}
