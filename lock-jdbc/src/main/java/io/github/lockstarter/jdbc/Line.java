// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * The line in which JVMs wait for a lock. A JVM that was told that it is its turn keeps
 * its place until the lock is granted, and a free lock is reserved for it for a moment.
 * If it does not come, it is passed over with all its places.
 */
final class Line {

	/** Intervals vary, and an answer takes its time. */
	static final Duration LIFE = Duration.ofMinutes(1);

	/** A FAIR waiter behind others of its JVM does not ask. */
	private static final long FAIR_LIFE = TimeUnit.HOURS.toMicros(1);

	private final List<LineEntry> places;

	private final long now;

	private final Set<String> told = new LinkedHashSet<>();

	private long lastTold;

	/**
	 * Create the line of a row.
	 * @param places the places, which this line changes
	 * @param now the time
	 * @param lastTold when a JVM was told the last time
	 */
	Line(List<LineEntry> places, long now, long lastTold) {
		this.places = places;
		this.now = now;
		this.lastTold = lastTold;
	}

	/**
	 * Return the JVMs that were told that it is their turn since this line was read.
	 */
	Set<String> told() {
		return this.told;
	}

	long lastTold() {
		return this.lastTold;
	}

	List<LineEntry> places() {
		return this.places;
	}

	/**
	 * Return the names of the instances that wait, the first one first.
	 */
	List<String> names() {
		return this.places.stream()
			.filter((place) -> place.isAlive(this.now))
			.map((place) -> place.spot().name())
			.toList();
	}

	boolean contains(String jvm) {
		return this.places.stream().anyMatch((place) -> place.spot().isOf(jvm));
	}

	/**
	 * Add a place, or replace the counterpart of the same JVM.
	 * @param pace for how long a free lock is reserved for the place
	 */
	void add(Spot spot, long pace) {
		long liveUntil = this.now + (spot.isFair() ? FAIR_LIFE : TimeUnit.MICROSECONDS.convert(LIFE));
		for (LineEntry place : this.places) {
			if (place.spot().equals(spot) || place.spot().isInsteadOf(spot)) {
				place.asked(spot, liveUntil, pace);
				return;
			}
		}
		this.places.add(new LineEntry(spot, liveUntil, pace));
	}

	/**
	 * Add the place for which a JVM has asked and was refused. The JVM is not late, for
	 * whichever of its places it was told.
	 */
	void refused(Spot spot, long pace) {
		this.places.stream().filter((place) -> place.spot().isOf(spot.jvm())).forEach(LineEntry::untell);
		add(spot, pace);
	}

	/**
	 * Remove the place that was granted the lock, or another one of the same JVM in its
	 * stead: each JVM admits its own waiters in FIFO order.
	 */
	void leave(Spot spot) {
		LineEntry next = turn();
		if (next != null && next.spot().isOf(spot.jvm())) {
			next.endTurn();
			next.untell();
			int own = indexOf(spot);
			int first = this.places.indexOf(next);
			if (own > first && spot.isFair()) {
				Collections.swap(this.places, own, first);
			}
		}
		remove(spot);
	}

	/**
	 * Remove a place that is withdrawn.
	 * @return whether it was its turn, or the turn of no place
	 */
	boolean withdraw(Spot spot) {
		LineEntry next = turn();
		remove(spot);
		if (next == null) {
			return true;
		}
		boolean own = next.spot().isOf(spot.jvm()) && (!spot.isFair() || next.spot().equals(spot));
		if (own) {
			this.places.remove(next);
		}
		return own;
	}

	private void remove(Spot spot) {
		this.places.removeIf((place) -> place.spot().equals(spot) || place.spot().isInsteadOf(spot));
	}

	/**
	 * Return until when a free lock is reserved for another place, or {@code null}.
	 */
	@Nullable Long reservedUntil(Spot spot) {
		if (turn() == null && spot.isFair() && !this.places.isEmpty() && !this.places.get(0).spot().isOf(spot.jvm())) {
			wake(spot.jvm());
		}
		LineEntry next = turn();
		if (next == null || next.spot().isOf(spot.jvm()) || (spot.shared() && next.spot().shared())) {
			return null;
		}
		return next.turnEnds();
	}

	/**
	 * Return whether an exclusive waiter stands before the places of a JVM.
	 */
	boolean isBehindWriter(String jvm) {
		for (LineEntry place : this.places) {
			if (place.spot().isOf(jvm)) {
				return false;
			}
			if (!place.spot().shared() && !place.isTold() && place.isAlive(this.now)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Tell the first place that it is its turn, and with a reader the readers next to it.
	 * Another JVM that was told before and has not asked is passed over.
	 * @param jvm the JVM on whose request this happens
	 */
	void wake(String jvm) {
		this.places.removeIf((place) -> !place.isAlive(this.now));
		this.places.forEach(LineEntry::endTurn);
		Set<String> late = new HashSet<>();
		for (int rank = 0; rank < this.places.size(); rank++) {
			LineEntry next = this.places.get(rank);
			String waiter = next.spot().jvm();
			if (!waiter.equals(jvm) && (next.isTold() || late.contains(waiter))) {
				late.add(waiter);
			}
			else {
				tell(next);
				next.beginTurn(this.now);
				if (next.spot().shared()) {
					tellReaders(rank + 1);
				}
				return;
			}
		}
	}

	/**
	 * Tell adjacent readers that it is their turn.
	 * @param rank the rank of the first of them
	 */
	void tellReaders(int rank) {
		for (int i = rank; i < this.places.size() && this.places.get(i).spot().shared(); i++) {
			if (!this.places.get(i).isTold()) {
				tell(this.places.get(i));
			}
		}
	}

	private void tell(LineEntry place) {
		this.lastTold = Math.max(this.lastTold + 1, this.now);
		place.tell(this.lastTold);
		this.told.add(place.spot().jvm());
	}

	private @Nullable LineEntry turn() {
		for (LineEntry place : this.places) {
			if (place.turnEnds() > this.now) {
				return place;
			}
		}
		return null;
	}

	private int indexOf(Spot spot) {
		for (int i = 0; i < this.places.size(); i++) {
			if (this.places.get(i).spot().equals(spot)) {
				return i;
			}
		}
		return -1;
	}

}
