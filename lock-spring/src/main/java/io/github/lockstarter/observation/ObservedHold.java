// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.observation.LockObservationContext.Outcome;

/**
 * The observation of a hold, which ends with the last of its locks.
 */
final class ObservedHold {

	private final LockObservations observations;

	private final LockObservationContext context;

	private final @Nullable Observation observation;

	private final AtomicInteger left;

	private volatile boolean lost;

	ObservedHold(LockObservations observations, LockObservationContext context, @Nullable Observation observation,
			int locks) {
		this.observations = observations;
		this.context = context;
		this.observation = observation;
		this.left = new AtomicInteger(locks);
	}

	/**
	 * Note that the hold of one of the locks has ended.
	 */
	void ended(boolean lost) {
		this.lost |= lost;
		if (this.left.decrementAndGet() == 0) {
			this.context.setOutcome(this.lost ? Outcome.LOST : Outcome.RELEASED);
			this.observations.stop(this.observation, null);
		}
	}

}
