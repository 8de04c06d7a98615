// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Supplier;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.observation.LockObservationContext.Outcome;
import io.github.lockstarter.observation.LockObservationDocumentation.LowCardinalityKeyNames;
import io.github.lockstarter.observation.LockObservations.Acquisition;

/**
 * A registry whose acquisitions and holds are observed.
 */
final class ObservedLockRegistry implements LockRegistry, AutoCloseable {

	private final String name;

	private final LockRegistry delegate;

	private final LockObservations observations;

	private final BoundedNames<Tags> names;

	ObservedLockRegistry(String name, LockRegistry delegate, LockObservations observations) {
		this.name = name;
		this.delegate = delegate;
		this.observations = observations;
		this.names = new BoundedNames<>((each) -> new Tags(this.name, each));
	}

	@Override
	public LockRegistry delegate() {
		return this.delegate;
	}

	/**
	 * Begin to observe an acquisition.
	 * @return the acquisition, or {@code null} if nobody wants to know, or there is
	 * nothing to acquire, which the registry refuses
	 */
	private @Nullable Acquisition begin(Collection<LockRequest> requests) {
		if (this.observations.isNoop() || requests.isEmpty()) {
			return null;
		}
		List<LockRequest> all = List.copyOf(requests);
		return new Acquisition(this.observations, this.name, this.names.get(nameOf(all)), all);
	}

	private static String nameOf(List<LockRequest> requests) {
		String name = requests.get(0).key().name();
		for (LockRequest each : requests) {
			if (!each.key().name().equals(name)) {
				return Tags.SEVERAL;
			}
		}
		return name;
	}

	private <L extends @Nullable LeaseSet> L observe(Collection<LockRequest> requests, Supplier<L> acquisition) {
		Acquisition observed = begin(requests);
		if (observed == null) {
			return acquisition.get();
		}
		L leases;
		try {
			leases = acquisition.get();
		}
		catch (Throwable ex) {
			observed.denied(ex);
			throw ex;
		}
		if (leases != null) {
			observed.granted(leases);
		}
		else {
			observed.denied(null);
		}
		return leases;
	}

	private <L extends LeaseSet> CompletableFuture<L> observeAsync(Collection<LockRequest> requests,
			Supplier<CompletableFuture<L>> acquisition) {
		Acquisition observed = begin(requests);
		if (observed == null) {
			return acquisition.get();
		}
		try {
			return new ObservedFuture<>(acquisition.get(), observed);
		}
		catch (Throwable ex) {
			observed.denied(ex);
			throw ex;
		}
	}

	@Override
	public Lease acquire(LockRequest request) {
		return observe(List.of(request), () -> this.delegate.acquire(request));
	}

	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		return Optional.ofNullable(
				this.<@Nullable Lease>observe(List.of(request), () -> this.delegate.tryAcquire(request).orElse(null)));
	}

	@Override
	public CompletableFuture<Lease> acquireAsync(LockRequest request) {
		return observeAsync(List.of(request), () -> this.delegate.acquireAsync(request));
	}

	@Override
	public LeaseSet acquireAll(Collection<LockRequest> requests) {
		return observe(requests, () -> this.delegate.acquireAll(requests));
	}

	@Override
	public Optional<LeaseSet> tryAcquireAll(Collection<LockRequest> requests) {
		return Optional.ofNullable(
				this.<@Nullable LeaseSet>observe(requests, () -> this.delegate.tryAcquireAll(requests).orElse(null)));
	}

	@Override
	public CompletableFuture<LeaseSet> acquireAllAsync(Collection<LockRequest> requests) {
		return observeAsync(requests, () -> this.delegate.acquireAllAsync(requests));
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalArgumentException if the store has no shared locks
	 */
	@Override
	public ReadWriteLock readWriteLock(LockKey key) {
		this.delegate.readWriteLock(key);
		return LockRegistry.super.readWriteLock(key);
	}

	@Override
	public LockSettings settings() {
		return this.delegate.settings();
	}

	@Override
	public void close() throws Exception {
		if (this.delegate instanceof AutoCloseable closeable) {
			closeable.close();
		}
	}

	@Override
	public String toString() {
		return this.delegate.toString();
	}

	/**
	 * A lease that may still be waited for. Its hold has begun when its owner gets it. To
	 * end it early ends the wait.
	 *
	 * @param <L> a {@link Lease} or a {@link LeaseSet}
	 */
	private static final class ObservedFuture<L extends LeaseSet> extends CompletableFuture<L> {

		private final Executor executor;

		ObservedFuture(CompletableFuture<L> acquisition, Acquisition observed) {
			this.executor = acquisition.defaultExecutor();
			acquisition.whenComplete((lease, ex) -> {
				if (lease == null) {
					observed.denied(ex);
					completeExceptionally(ex);
					return;
				}
				observed.granted(lease);
				if (!complete(lease)) {
					lease.closeAsync();
				}
			});
			whenComplete((lease, ex) -> acquisition.cancel(false));
		}

		@Override
		public Executor defaultExecutor() {
			return this.executor;
		}

	}

	/**
	 * The low-cardinality key values of one lock name. Each combination is made once,
	 * because to sort them takes longer than to acquire a lock in memory.
	 */
	static final class Tags {

		static final String SEVERAL = "several";

		private static final LockMode[] MODES = LockMode.values();

		private static final Outcome[] OUTCOMES = Outcome.values();

		private final String name;

		private final KeyValues base;

		/**
		 * By mode and outcome, each of which may be missing. Filled when it is asked for.
		 */
		private final @Nullable KeyValues[] all = new KeyValues[(MODES.length + 1) * (OUTCOMES.length + 1)];

		Tags(String store, String name) {
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
			return LowCardinalityKeyNames.MODE
				.withValue((mode != null) ? mode.name().toLowerCase(Locale.ROOT) : SEVERAL);
		}

	}

}
