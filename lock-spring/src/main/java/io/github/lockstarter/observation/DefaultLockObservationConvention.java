// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.util.List;
import java.util.stream.Collectors;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.observation.LockObservationDocumentation.HighCardinalityKeyNames;

/**
 * The key values that {@link LockObservationDocumentation} describes. One that is not
 * known has the value {@value KeyValue#NONE_VALUE}, except the outcome, which is left out
 * until it is known.
 */
public class DefaultLockObservationConvention implements LockObservationConvention {

	/** How many keys of several locks a trace shows. */
	private static final int MAX_KEYS = 10;

	@Override
	public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
		return context.tags().keyValues(context.getMode(), context.getOutcome());
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
		Long token = context.getFencingToken();
		KeyValues values = KeyValues.of(HighCardinalityKeyNames.KEY.withValue(textOf(context)),
				HighCardinalityKeyNames.TOKEN.withValue((token != null) ? token.toString() : KeyValue.NONE_VALUE));
		String holder = context.getHolder();
		return (context.getObservation() == LockObservationDocumentation.HOLD) ? values
				: values.and(HighCardinalityKeyNames.HOLDER.withValue((holder != null) ? holder : KeyValue.NONE_VALUE));
	}

	private static String textOf(LockObservationContext context) {
		List<LockKey> keys = context.getKeys();
		if (keys.size() == 1) {
			String key = keys.get(0).key();
			return (key != null) ? key : KeyValue.NONE_VALUE;
		}
		return keys.stream().limit(MAX_KEYS).map(LockKey::toString).collect(Collectors.joining(", "))
				+ ((keys.size() > MAX_KEYS) ? " and " + (keys.size() - MAX_KEYS) + " more" : "");
	}

	@Override
	public @Nullable String getContextualName(LockObservationContext context) {
		return context.getObservation().verb() + " " + context.getLockName();
	}

}
