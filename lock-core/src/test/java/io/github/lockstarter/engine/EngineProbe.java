// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.awaitility.Awaitility;

import io.github.lockstarter.memory.MemoryLockStore;

/**
 * Lets tests in other packages inspect a registry.
 */
public final class EngineProbe {

	private EngineProbe() {
	}

	static OutageLog outages(Timetable timetable) {
		return new OutageLog("memory", new MemoryLockStore(), timetable, Duration.ofSeconds(3));
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

	/**
	 * Close registries once nothing is held, waited for or under way in the background.
	 */
	public static void closeWhenIdle(DefaultLockRegistry... registries) {
		for (DefaultLockRegistry registry : registries) {
			Awaitility.await().until(() -> registry.activeLocks() == 0 && registry.backgroundActions() == 0);
			registry.close();
		}
	}

}
