// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

/**
 * Shows who holds a lock and who waits for it, whichever instance is asked, and frees a
 * lock whose owner does not release it. For people and tools: no lock depends on the
 * answers. Applications use that of a
 * {@linkplain io.github.lockstarter.engine.DefaultLockRegistry#inspection() registry},
 * which knows the holds of its instance; a store knows only their ownerships.
 */
public interface LockInspection {

	/**
	 * Return the state of a lock at this moment.
	 * @param key the lock
	 */
	CompletionStage<State> inspect(LockKey key);

	/**
	 * Free a lock if a grant, or what is kept after it, still holds it. The next grant
	 * has a larger fencing base, and an owner in another instance learns of its loss at
	 * its next renewal. A shared lock: with the token of the last grant all owners lose
	 * it; in memory and ZooKeeper each token frees its own owner.
	 * @param key the lock
	 * @param fencingToken a fencing token of that grant
	 * @return whether the lock was freed; if not, nothing was changed
	 */
	CompletionStage<Boolean> free(LockKey key, long fencingToken);

	/**
	 * The state of a lock.
	 *
	 * @param holders who holds it, several if it is shared; empty if it is free
	 * @param fencingToken that of the last grant, or 0 if none is known
	 * @param waiters the instances in its line, or a FAIR owner of one, the first one
	 * first. Those that do not stand in line are not known
	 */
	record State(List<Holder> holders, long fencingToken, List<String> waiters) {

		/**
		 * The state of a lock that nobody has requested.
		 */
		public static final State UNKNOWN = new State(List.of(), 0, List.of());

		public State {
			holders = List.copyOf(holders);
			waiters = List.copyOf(waiters);
		}

	}

	/**
	 * An owner of a lock.
	 *
	 * @param name the name of its instance, or what is known of a foreign owner; see
	 * {@link OwnerToken#holder}
	 * @param mode {@link LockMode#READ} if it shares the lock, otherwise
	 * {@link LockMode#EXCLUSIVE}
	 * @param remaining how long its lease lasts if it is not renewed, or {@code null} if
	 * the store does not know that
	 * @param kept whether it has released the lock, which is only kept
	 * @param fencingToken that of its grant, or {@code null} if the store knows only the
	 * last one of the lock
	 */
	record Holder(String name, LockMode mode, @Nullable Duration remaining, boolean kept, @Nullable Long fencingToken) {

		/**
		 * Return the owner with a value in the store.
		 */
		public static Holder of(String value, LockMode mode, @Nullable Duration remaining,
				@Nullable Long fencingToken) {
			return new Holder(OwnerToken.holder(value), mode, remaining, OwnerToken.isKept(value), fencingToken);
		}

	}

	/**
	 * Return the fencing token of the first hold of an ownership.
	 */
	static long tokenOf(long fencingBase) {
		return fencingBase << AcquireResult.Grant.HOLD_NUMBER_BITS;
	}

	/**
	 * Return the fencing base of a token.
	 */
	static long baseOf(long fencingToken) {
		return fencingToken >> AcquireResult.Grant.HOLD_NUMBER_BITS;
	}

}
