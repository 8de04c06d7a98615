// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.util.Locale;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.observation.LockObservationContext.Outcome;
import io.github.lockstarter.observation.LockObservationDocumentation.LowCardinalityKeyNames;

/**
 * The low-cardinality key values of one lock name. Each combination is made once, because
 * to sort them takes longer than to acquire a lock in memory.
 */
final class LockTags {

	static final String SEVERAL = "several";

	private static final LockMode[] MODES = LockMode.values();

	private static final Outcome[] OUTCOMES = Outcome.values();

	private final String name;

	private final KeyValues base;

	/** By mode and outcome, each of which may be missing. Filled when it is asked for. */
	private final @Nullable KeyValues[] all = new KeyValues[(MODES.length + 1) * (OUTCOMES.length + 1)];

	LockTags(String store, String name) {
		this.name = name;
		this.base = KeyValues.of(LowCardinalityKeyNames.NAME.withValue(name),
				LowCardinalityKeyNames.STORE.withValue(store));
	}

	String name() {
		return this.name;
	}

	/**
	 * Return the key values.
	 * @param mode the mode, or {@code null} for several modes
	 * @param outcome the outcome, or {@code null} if it is not known yet
	 */
	KeyValues keyValues(@Nullable LockMode mode, @Nullable Outcome outcome) {
		int index = ((mode != null) ? mode.ordinal() : MODES.length) * (OUTCOMES.length + 1)
				+ ((outcome != null) ? outcome.ordinal() : OUTCOMES.length);
		KeyValues known = this.all[index];
		if (known == null) {
			known = this.base.and(modeOf(mode));
			known = (outcome != null) ? known.and(LowCardinalityKeyNames.OUTCOME.withValue(outcome.text())) : known;
			this.all[index] = known;
		}
		return known;
	}

	private static KeyValue modeOf(@Nullable LockMode mode) {
		return LowCardinalityKeyNames.MODE.withValue((mode != null) ? mode.name().toLowerCase(Locale.ROOT) : SEVERAL);
	}

}
