// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The owners of a lock inside this JVM: one, or several that share it, and those that
 * have lost it and have not noticed the loss. An owner that may never notice it is
 * forgotten; its lease knows the loss by itself. Guarded by the lock.
 */
final class Holders {

	/**
	 * A small map until there is a second holder: most held locks have one, and there may
	 * be many locks.
	 */
	private Map<Object, Hold> holds = Map.of();

	private List<Hold> lost = Collections.emptyList();

	/**
	 * Return the hold of an owner. If a hold has ended by itself, its owner may acquire
	 * the lock anew.
	 */
	@Nullable Hold of(Object owner) {
		Hold hold = this.holds.get(owner);
		if (hold != null) {
			return hold;
		}
		for (Hold each : this.lost) {
			if (!each.isLimited() && each.owner().equals(owner)) {
				return each;
			}
		}
		return null;
	}

	Collection<Hold> current() {
		return this.holds.values();
	}

	/**
	 * Return all holds, with those that are lost without their owner having noticed.
	 */
	List<Hold> all() {
		List<Hold> all = new ArrayList<>(current());
		all.addAll(this.lost);
		return all;
	}

	boolean isEmpty() {
		return this.holds.isEmpty();
	}

	/**
	 * Return whether an owner has lost the lock without having noticed.
	 */
	boolean hasLost() {
		return !this.lost.isEmpty();
	}

	/**
	 * Return the longest lease time of the holders.
	 * @param otherwise the lease time of a holder that has requested none
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
		if (isEmpty()) {
			this.holds = Map.of(hold.owner(), hold);
			return;
		}
		if (this.holds.size() == 1) {
			this.holds = new HashMap<>(this.holds);
		}
		this.holds.put(hold.owner(), hold);
	}

	private boolean take(Hold hold) {
		if (this.holds.get(hold.owner()) != hold) {
			return false;
		}
		if (this.holds.size() == 1) {
			this.holds = Map.of();
		}
		else {
			this.holds.remove(hold.owner());
		}
		return true;
	}

	/**
	 * Remove a hold that ends.
	 * @return {@code false} if it was already lost
	 */
	boolean remove(Hold hold) {
		if (take(hold)) {
			return true;
		}
		this.lost.remove(hold);
		return false;
	}

	/**
	 * End a hold as lost.
	 * @param reason the reason, or {@code null} if its lease time is over
	 * @return {@code false} if it has already ended
	 */
	boolean lose(Hold hold, @Nullable String reason) {
		if (!take(hold)) {
			return false;
		}
		hold.lose(reason);
		if (!hold.mayBeAbandoned()) {
			if (this.lost.isEmpty()) {
				this.lost = new ArrayList<>();
			}
			this.lost.add(hold);
		}
		return true;
	}

	/**
	 * End all holds as lost.
	 * @param reason the reason, or {@code null} if the lease has expired
	 * @return the lost holds
	 */
	List<Hold> loseAll(@Nullable String reason) {
		List<Hold> all = List.copyOf(this.holds.values());
		all.forEach((hold) -> lose(hold, reason));
		return all;
	}

	/**
	 * Forget a lost hold if its owner may never notice the loss.
	 */
	void forgetIfAbandoned(Hold hold) {
		if (hold.mayBeAbandoned()) {
			this.lost.remove(hold);
		}
	}

}
