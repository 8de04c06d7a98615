// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;

import io.github.lockstarter.engine.Counts;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.LocalState;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.observation.LockObservationDocumentation.LowCardinalityKeyNames;
import io.github.lockstarter.spring.LockRegistryFactory;

/**
 * Meters of what a registry holds, waits for and loses. Declare it as a bean; Spring Boot
 * does so if the application has a {@link MeterRegistry}. The gauges read the state of
 * the registry when they are asked, so they cost an acquisition nothing.
 */
public final class LockMeters implements LockListener, SmartInitializingSingleton {

	/** The gauges of one scrape have one reading. */
	private static final long LIFE_OF_READING = TimeUnit.SECONDS.toNanos(1);

	/** Of a registry that does not exist, or no longer. */
	private static final LocalState NOTHING = new LocalState(List.of(), List.of());

	private static final Counts NO_COUNTS = new Counts(0, 0, Duration.ZERO, 0);

	private final MeterRegistry meters;

	private final LockRegistryFactory registries;

	private final Map<String, OfRegistry> all = new ConcurrentHashMap<>();

	/**
	 * Create the meters.
	 * @param meters has the meters
	 * @param registries has the registries
	 */
	public LockMeters(MeterRegistry meters, LockRegistryFactory registries) {
		this.meters = meters;
		this.registries = registries;
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.registries.byName().keySet().forEach(this::of);
	}

	/** A registry may be created when its first lock is requested. */
	private OfRegistry of(String name) {
		OfRegistry known = this.all.get(name);
		return (known != null) ? known : this.all.computeIfAbsent(name, OfRegistry::new);
	}

	@Override
	public void onEvent(LockEvent event) {
		OfRegistry registry = of(event.registry());
		OfName meters = registry.names.get(event.key().name());
		if (event instanceof LockEvent.Lost) {
			meters.lost.increment();
		}
		else if (event instanceof LockEvent.Suspect) {
			meters.suspect.increment();
		}
		else if (event instanceof LockEvent.TransactionRefused) {
			meters.fenced.increment();
		}
		else if (event instanceof LockEvent.Unavailable) {
			registry.unavailable.increment();
		}
	}

	private Counter counter(String name, String description, Tags tags) {
		return Counter.builder(name).description(description).tags(tags).register(this.meters);
	}

	/**
	 * The meters of a registry.
	 */
	private final class OfRegistry {

		private final String name;

		private final Tags tags;

		private final BoundedNames<OfName> names;

		/** Not by name: a series that begins with its first event has no increase. */
		private final Counter unavailable;

		/** Guarded by this. */
		private long readAt;

		/** Guarded by this. */
		private @Nullable Counts counts;

		OfRegistry(String name) {
			this.name = name;
			this.tags = Tags.of(LowCardinalityKeyNames.STORE.asString(), name);
			this.names = new BoundedNames<>((each) -> new OfName(this, each));
			this.unavailable = counter("distributed.lock.unavailable",
					"Requests for locks that failed because the store could not be asked", this.tags);
			if (registry() != null) {
				bind();
			}
		}

		/** After a registry was closed, another one may have its name. */
		private @Nullable DefaultLockRegistry registry() {
			return LockMeters.this.registries.byName().get(this.name);
		}

		private void bind() {
			FunctionCounter.builder("distributed.lock.handoffs", this, (each) -> each.counts().handOffs())
				.description("Locks that were passed on to the next waiter in the same instance")
				.tags(this.tags)
				.register(LockMeters.this.meters);
			// This one exists always, so a name whose first request still waits appears
			Gauge.builder("distributed.lock.orphans", this, (each) -> each.counts().orphans())
				.description("Locks that may still be held in the store although nobody wants them")
				.tags(this.tags)
				.register(LockMeters.this.meters);
			TimeGauge
				.builder("distributed.lock.renewal.lag", this, TimeUnit.NANOSECONDS,
						(each) -> each.counts().renewalLag().toNanos())
				.description("By how much the latest renewal that is due is late")
				.tags(this.tags)
				.register(LockMeters.this.meters);
		}

		synchronized double read(OfName name, ToDoubleFunction<OfName> number) {
			counts();
			return number.applyAsDouble(name);
		}

		private synchronized Counts counts() {
			long now = LockMeters.this.meters.config().clock().monotonicTime();
			Counts counts = this.counts;
			if (counts == null || now - this.readAt >= LIFE_OF_READING) {
				DefaultLockRegistry registry = registry();
				read((registry != null) ? registry.localState() : NOTHING);
				counts = (registry != null) ? registry.counts() : NO_COUNTS;
				this.counts = counts;
				this.readAt = now;
			}
			return counts;
		}

		private void read(LocalState state) {
			for (OfName each : this.names.all()) {
				each.held = 0;
				each.longestHeld = 0;
				each.waiting = 0;
				each.longestWaiting = 0;
			}
			for (LocalState.Held each : state.held()) {
				OfName name = this.names.get(each.key().name());
				if (each.status() != LocalState.Status.LOST) {
					name.held++;
					name.longestHeld = Math.max(name.longestHeld, each.held().toNanos());
				}
			}
			for (LocalState.Waiting each : state.waiting()) {
				OfName name = this.names.get(each.key().name());
				name.waiting++;
				name.longestWaiting = Math.max(name.longestWaiting, each.waited().toNanos());
			}
		}

	}

	/**
	 * The meters of a lock name. The numbers are guarded by the registry's.
	 */
	private final class OfName {

		private int held;

		/** In nanoseconds, as the next one. */
		private long longestHeld;

		private int waiting;

		private long longestWaiting;

		private final Counter lost;

		private final Counter suspect;

		private final Counter fenced;

		OfName(OfRegistry registry, String name) {
			Tags tags = registry.tags.and(LowCardinalityKeyNames.NAME.asString(), name);
			this.lost = counter("distributed.lock.lost", "Locks that were lost before their release", tags);
			this.suspect = counter("distributed.lock.suspect",
					"Leases that could not be renewed or looked up; it is tried again until they expire", tags);
			this.fenced = counter("distributed.lock.fenced",
					"Transactions of late owners that the database has refused", tags);
			gauge("distributed.lock.held", "Locks that this instance holds", tags,
					(each) -> registry.read(each, (one) -> one.held));
			gauge("distributed.lock.waiting", "Requests of this instance that wait", tags,
					(each) -> registry.read(each, (one) -> one.waiting));
			longest("distributed.lock.held.longest",
					"The longest of the times for which this instance has held its locks until now", tags,
					(each) -> registry.read(each, (one) -> one.longestHeld));
			longest("distributed.lock.waiting.longest",
					"The longest of the times for which requests of this instance have waited until now", tags,
					(each) -> registry.read(each, (one) -> one.longestWaiting));
		}

		private void gauge(String name, String description, Tags tags, ToDoubleFunction<OfName> value) {
			Gauge.builder(name, this, value).description(description).tags(tags).register(LockMeters.this.meters);
		}

		private void longest(String name, String description, Tags tags, ToDoubleFunction<OfName> nanos) {
			TimeGauge.builder(name, this, TimeUnit.NANOSECONDS, nanos)
				.description(description)
				.tags(tags)
				.register(LockMeters.this.meters);
		}

	}

}
