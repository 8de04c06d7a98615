// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayList;
import java.util.List;

/**
 * Effects that are carried out one after the other, even if one of them fails. A list,
 * because a transition may have one effect for each of many waiters.
 */
final class EffectList implements Effect {

	private final List<Effect> effects = new ArrayList<>(2);

	EffectList(Effect first) {
		this.effects.add(first);
	}

	@Override
	public Effect and(Effect next) {
		if (next != NONE) {
			this.effects.add(next);
		}
		return this;
	}

	@Override
	public void carryOut(Desk desk) {
		Throwable failure = null;
		for (Effect effect : this.effects) {
			try {
				effect.carryOut(desk);
			}
			catch (RuntimeException | Error ex) {
				failure = (failure != null) ? failure : ex;
			}
		}
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure != null) {
			throw (RuntimeException) failure;
		}
	}

}
