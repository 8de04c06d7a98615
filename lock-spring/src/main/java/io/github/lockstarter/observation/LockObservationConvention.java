// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names the {@linkplain LockObservationDocumentation observations} of locks and their key
 * values. To change them, declare a bean of this type, usually a subclass of
 * {@link DefaultLockObservationConvention}.
 */
public interface LockObservationConvention extends ObservationConvention<LockObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof LockObservationContext;
	}

}
