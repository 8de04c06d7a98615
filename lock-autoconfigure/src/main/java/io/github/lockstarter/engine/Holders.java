// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The owners of a lock inside this JVM: one, or several that share it, and those that
 * have yet to learn that they lost it. Guarded by the entry.
 */
final class Holders {

	private final Map<Object, Hold> holds = new HashMap<>(2);

	private final List<Hold> lost = new ArrayList<>(0);

	@Nullable Hold of(Object owner) {
		Hold hold = this.holds.get(owner);
		if (hold != null) {
			return hold;
		}
		for (Hold each : this.lost) {
			if (each.belongsTo(owner)) {
				return each;
			}
		}
		return null;
	}

	/**
	 * Return whether nobody holds the lock.
	 */
	boolean isEmpty() {
		return this.holds.isEmpty();
	}

	/**
	 * Return whether somebody has lost it and does not know.
	 */
	boolean hasLost() {
		return !this.lost.isEmpty();
	}

	/**
	 * Return the longest lease time that one of them wants.
	 * @param otherwise what those want who do not say
	 */
	Duration longestLeaseTime(Duration otherwise) {
		Duration longest = Duration.ZERO;
		for (Hold hold : this.holds.values()) {
			Duration leaseTime = hold.leaseTime(otherwise);
			longest = (leaseTime.compareTo(longest) > 0) ? leaseTime : longest;
		}
		return longest;
	}

	void add(Hold hold) {
		this.holds.put(hold.owner(), hold);
	}

	/**
	 * Take out one that ends.
	 * @return false if it was lost before
	 */
	boolean remove(Hold hold) {
		if (this.holds.remove(hold.owner(), hold)) {
			return true;
		}
		this.lost.remove(hold);
		return false;
	}

	/**
	 * Take the lock from one that has not ended yet.
	 * @return false if it has
	 */
	boolean lose(Hold hold) {
		return this.holds.remove(hold.owner(), hold) && this.lost.add(hold);
	}

	/**
	 * Take the lock from all.
	 * @return from whom
	 */
	List<Hold> loseAll() {
		List<Hold> all = List.copyOf(this.holds.values());
		this.holds.clear();
		this.lost.addAll(all);
		return all;
	}

}
