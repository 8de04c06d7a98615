// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.ObservationView;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.observation.LockObservationContext.Outcome;
import io.github.lockstarter.spring.LockRegistryDecorator;

/**
 * Observes the acquisition and the hold of locks. Declare it as a bean of this type,
 * which decorates registries and listens to their events; Spring Boot does so if the
 * application has an {@link ObservationRegistry}.
 *
 * <p>
 * No observation is made the current one: a lease may be closed on any thread and in any
 * order, and what a body does belongs to its own observation. An exception of a handler
 * is logged, and the lock is not affected.
 *
 * @see LockObservationDocumentation
 */
public final class LockObservations implements LockRegistryDecorator, LockListener {

	private static final Log logger = LogFactory.getLog(LockObservations.class);

	private final ObservationRegistry registry;

	private final @Nullable LockObservationConvention convention;

	/** Events tell how a hold ends, wherever and by whomever its lease is closed. */
	private final Map<HoldId, Hold> holds = new ConcurrentHashMap<>();

	private final AtomicBoolean failed = new AtomicBoolean();

	/**
	 * Create the observations.
	 * @param registry has the handlers
	 * @param convention the names and key values, or {@code null} for the default ones
	 */
	public LockObservations(ObservationRegistry registry, @Nullable LockObservationConvention convention) {
		this.registry = registry;
		this.convention = convention;
	}

	@Override
	public LockRegistry decorate(String name, LockRegistry registry) {
		return new ObservedLockRegistry(name, registry, this);
	}

	/** Whether nobody wants to know. */
	boolean isNoop() {
		return this.registry.isNoop();
	}

	/**
	 * Start an observation.
	 * @param parent its parent, or {@code null} for the current one
	 * @return the observation, or {@code null} if that failed
	 */
	@Nullable Observation start(LockObservationContext context, @Nullable ObservationView parent) {
		try {
			context.setParentObservation(parent);
			return create(context).start();
		}
		catch (Throwable ex) {
			warn(ex);
			return null;
		}
	}

	private Observation create(LockObservationContext context) {
		if (this.convention != null) {
			return Observation.createNotStarted(context.getObservation().getName(), () -> context, this.registry)
				.observationConvention(this.convention);
		}
		LockObservationConvention defaults = (context.getObservation() == LockObservationDocumentation.ACQUIRE)
				? GivenByContext.ACQUIRE : GivenByContext.HOLD;
		return Observation.createNotStarted(null, defaults, () -> context, this.registry);
	}

	void stop(@Nullable Observation observation, @Nullable Throwable failure) {
		if (observation == null) {
			return;
		}
		try {
			if (failure != null) {
				observation.error(failure);
			}
			observation.stop();
		}
		catch (Throwable ex) {
			warn(ex);
		}
	}

	/**
	 * An error that escaped would leave a lock held without its owner knowing.
	 */
	private void warn(Throwable ex) {
		String failure = "A lock could not be observed; the lock is not affected";
		if (this.failed.compareAndSet(false, true)) {
			logger.warn(failure + ". Further failures are logged at DEBUG", ex);
		}
		else {
			logger.debug(failure, ex);
		}
	}

	private boolean isHeld(HoldId id) {
		return this.holds.containsKey(id);
	}

	/**
	 * Let a hold end with the events of a lease.
	 */
	private void hold(HoldId id, Hold hold, Lease lease) {
		this.holds.put(id, hold);
		if (!lease.isHeld()) {
			// Its last event may have come before
			end(id, true);
		}
	}

	@Override
	public void onEvent(LockEvent event) {
		if (this.holds.isEmpty()) {
			return;
		}
		if (event instanceof LockEvent.Released released) {
			end(new HoldId(event.registry(), event.key(), released.fencingToken()), false);
		}
		else if (event instanceof LockEvent.Kept kept) {
			end(new HoldId(event.registry(), event.key(), kept.fencingToken()), false);
		}
		else if (event instanceof LockEvent.ReleaseFailed failed) {
			end(new HoldId(event.registry(), event.key(), failed.fencingToken()), false);
		}
		else if (event instanceof LockEvent.Lost lost) {
			end(new HoldId(event.registry(), event.key(), lost.fencingToken()), true);
		}
	}

	private void end(HoldId id, boolean lost) {
		Hold hold = this.holds.remove(id);
		if (hold != null) {
			hold.ended(lost);
		}
	}

	/**
	 * The observation of an acquisition, of one lock or of several together.
	 */
	static final class Acquisition {

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
		Acquisition(LockObservations observations, String registry, ObservedLockRegistry.Tags tags,
				List<LockRequest> requests) {
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
			Hold hold = new Hold(this.observations, context,
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
			Throwable cause = (failure instanceof CompletionException && failure.getCause() != null)
					? failure.getCause() : failure;
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

	/**
	 * The observation of a hold, which ends with the last of its locks.
	 */
	private static final class Hold {

		private final LockObservations observations;

		private final LockObservationContext context;

		private final @Nullable Observation observation;

		private final AtomicInteger left;

		private volatile boolean lost;

		Hold(LockObservations observations, LockObservationContext context, @Nullable Observation observation,
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
			if (lost) {
				this.lost = true;
			}
			if (this.left.decrementAndGet() == 0) {
				this.context.setOutcome(this.lost ? Outcome.LOST : Outcome.RELEASED);
				this.observations.stop(this.observation, null);
			}
		}

	}

	/**
	 * What is the same for all levels of a hold, and for no other hold.
	 *
	 * @param registry the name of the registry
	 * @param key which lock
	 * @param fencingToken its token
	 */
	private record HoldId(String registry, LockKey key, long fencingToken) {
	}

	/**
	 * The default convention, whose values the context itself gives. If there is a global
	 * convention for locks, it is asked instead.
	 */
	private static final class GivenByContext extends DefaultLockObservationConvention {

		static final GivenByContext ACQUIRE = new GivenByContext(LockObservationDocumentation.ACQUIRE.getName());

		static final GivenByContext HOLD = new GivenByContext(LockObservationDocumentation.HOLD.getName());

		private final String name;

		private GivenByContext(String name) {
			this.name = name;
		}

		@Override
		public String getName() {
			return this.name;
		}

		@Override
		public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
			return context.giveDefaults() ? KeyValues.empty() : super.getLowCardinalityKeyValues(context);
		}

		@Override
		public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
			return context.giveDefaults() ? KeyValues.empty() : super.getHighCardinalityKeyValues(context);
		}

		@Override
		public @Nullable String getContextualName(LockObservationContext context) {
			return context.giveDefaults() ? null : super.getContextualName(context);
		}

	}

}
