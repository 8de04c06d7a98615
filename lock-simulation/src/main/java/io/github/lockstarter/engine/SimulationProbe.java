// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * Shows the simulation what a registry still has to do.
 */
public final class SimulationProbe {

	private SimulationProbe() {
	}

	/**
	 * Return how many locks are held or waited for.
	 */
	public static int activeLocks(DefaultLockRegistry registry) {
		return registry.activeLocks();
	}

	/**
	 * Return how many actions are scheduled or under way in the background.
	 */
	public static int backgroundActions(DefaultLockRegistry registry) {
		return registry.backgroundActions();
	}

}
