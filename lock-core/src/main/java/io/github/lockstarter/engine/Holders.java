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
 * have yet to learn that they lost it. One that may never come to learn it is forgotten:
 * its lease knows by itself. Guarded by the lock.
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
	 * @param reason how it was lost, or {@code null} if its time is over
	 * @return false if it has
	 */
	boolean lose(Hold hold, @Nullable String reason) {
		if (!this.holds.remove(hold.owner(), hold)) {
			return false;
		}
		hold.lose(reason);
		if (!hold.mayBeAbandoned()) {
			this.lost.add(hold);
		}
		return true;
	}

	/**
	 * Take the lock from all.
	 * @param reason how it was lost, or {@code null} if the lease is over
	 * @return from whom
	 */
	List<Hold> loseAll(@Nullable String reason) {
		List<Hold> all = List.copyOf(this.holds.values());
		all.forEach((hold) -> lose(hold, reason));
		return all;
	}

	/**
	 * Forget one that has lost the lock if nobody is left who is sure to learn of it.
	 */
	void forgetIfAbandoned(Hold hold) {
		if (hold.mayBeAbandoned()) {
			this.lost.remove(hold);
		}
	}

}
