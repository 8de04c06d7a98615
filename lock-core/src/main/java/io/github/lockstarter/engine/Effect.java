// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.List;

/**
 * What a transition of a {@link LocalLock} leaves to be done when its guard is free
 * again. It is carried out by the thread that has caused the transition.
 */
@FunctionalInterface
interface Effect {

	Effect NONE = (desk) -> {
	};

	void carryOut(Desk desk);

	/**
	 * Return an effect that is this one and then another.
	 */
	default Effect and(Effect next) {
		if (this == NONE) {
			return next;
		}
		return (next == NONE) ? this : (desk) -> {
			carryOut(desk);
			next.carryOut(desk);
		};
	}

	/**
	 * Return the effect that tells waiters their outcome.
	 */
	static Effect wake(List<Waiter> waiters) {
		return waiters.isEmpty() ? NONE : (desk) -> waiters.forEach(Waiter::wake);
	}

}
