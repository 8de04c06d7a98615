// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.Step;

/**
 * Attempts for tests.
 */
final class Histories {

	static final String KEY = "stock";

	private Histories() {
	}

	/**
	 * Return a released hold in which each step takes a moment.
	 */
	static Attempt hold(String owner, long token, long ask, long granted, long give, long gave) {
		return new Attempt(owner, KEY, false).note(Step.ASK, ask)
			.granted(granted, token)
			.note(Step.HELD, give)
			.note(Step.GIVE, give)
			.note(Step.GAVE, gave);
	}

	/**
	 * Return a hold with an unknown end.
	 */
	static Attempt lost(String owner, long token, long ask, long granted, long heldUntil) {
		return new Attempt(owner, KEY, false).note(Step.ASK, ask)
			.granted(granted, token)
			.note(Step.HELD, heldUntil)
			.note(Step.LOST, heldUntil + 1);
	}

	/**
	 * Return a released nested hold.
	 */
	static Attempt nested(String owner, long token, long ask, long granted, long give, long gave) {
		return new Attempt(owner, KEY, true).note(Step.ASK, ask)
			.granted(granted, token)
			.note(Step.HELD, give)
			.note(Step.GIVE, give)
			.note(Step.GAVE, gave);
	}

}
