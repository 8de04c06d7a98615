// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.List;

/**
 * What remains to be done after a transition of a {@link LocalLock}, outside its guard.
 * The thread that caused the transition carries it out.
 */
@FunctionalInterface
interface Effect {

	Effect NONE = (desk) -> {
	};

	void carryOut(Desk desk);

	/**
	 * Return an effect that carries out this one and then another.
	 */
	default Effect and(Effect next) {
		if (this == NONE) {
			return next;
		}
		return (next == NONE) ? this : new EffectList(this).and(next);
	}

	/**
	 * Return the effect that wakes waiters after their outcome is settled.
	 */
	static Effect wake(List<Waiter> waiters) {
		return waiters.isEmpty() ? NONE : (desk) -> waiters.forEach(Waiter::wake);
	}

}
