// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;

import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.observation.LockObservationContext.Outcome;
import io.github.lockstarter.observation.LockObservations.HoldId;

/**
 * The observation of an acquisition, of one lock or of several together.
 */
final class ObservedAcquisition {

	private final LockObservations observations;

	private final String registry;

	private final LockObservationContext context;

	private final boolean skips;

	private final @Nullable Observation observation;

	/**
	 * Begin an acquisition.
	 * @param registry the name of the registry
	 * @param tags those of the lock name
	 * @param requests the requests, not empty
	 */
	ObservedAcquisition(LockObservations observations, String registry, LockTags tags, List<LockRequest> requests) {
		LockRequest first = requests.get(0);
		this.observations = observations;
		this.registry = registry;
		this.context = new LockObservationContext(LockObservationDocumentation.ACQUIRE, tags, keysOf(requests),
				modeOf(requests));
		this.skips = first.body() != null && first.body().skips();
		this.observation = observations.start(this.context, null);
	}

	private static List<LockKey> keysOf(List<LockRequest> requests) {
		return (requests.size() == 1) ? List.of(requests.get(0).key())
				: requests.stream().map(LockRequest::key).toList();
	}

	private static @Nullable LockMode modeOf(List<LockRequest> requests) {
		LockMode mode = requests.get(0).mode();
		for (LockRequest each : requests) {
			if (each.mode() != mode) {
				return null;
			}
		}
		return mode;
	}

	/**
	 * Note that the locks were granted, before their owner knows.
	 */
	void granted(LeaseSet leases) {
		List<Lease> all = leases.all();
		List<Lease> fresh = new ArrayList<>(all.size());
		for (Lease each : all) {
			if (!this.observations.isHeld(idOf(each))) {
				fresh.add(each);
			}
		}
		if (all.size() == 1) {
			this.context.setFencingToken(all.get(0).fencingToken());
		}
		this.context.setOutcome(fresh.isEmpty() ? Outcome.NESTED : Outcome.ACQUIRED);
		this.observations.stop(this.observation, null);
		if (!fresh.isEmpty()) {
			hold(fresh);
		}
	}

	private void hold(List<Lease> leases) {
		LockObservationContext context = new LockObservationContext(LockObservationDocumentation.HOLD,
				this.context.tags(), this.context.getKeys(), this.context.getMode());
		if (this.context.getFencingToken() != null) {
			context.setFencingToken(this.context.getFencingToken());
		}
		ObservedHold hold = new ObservedHold(this.observations, context,
				this.observations.start(context, this.context.getParentObservation()), leases.size());
		for (Lease each : leases) {
			this.observations.hold(idOf(each), hold, each);
		}
	}

	private HoldId idOf(Lease lease) {
		return new HoldId(this.registry, lease.key(), lease.fencingToken());
	}

	/**
	 * Note that the locks were not granted.
	 * @param failure the reason, or {@code null} if one was contended
	 */
	void denied(@Nullable Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		if (cause == null || cause instanceof LockContendedException) {
			if (cause instanceof LockContendedException contention) {
				this.context.setHolder(contention.getHolder());
			}
			this.context.setOutcome(this.skips ? Outcome.SKIPPED : Outcome.CONTENDED);
			this.observations.stop(this.observation, null);
			return;
		}
		this.context.setOutcome((cause instanceof LockUnavailableException) ? Outcome.UNAVAILABLE
				: (cause instanceof LockInterruptedException || cause instanceof CancellationException)
						? Outcome.INTERRUPTED : Outcome.ERROR);
		this.observations.stop(this.observation, cause);
	}

}
