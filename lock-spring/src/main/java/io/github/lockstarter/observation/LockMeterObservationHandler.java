// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.Observation;

/**
 * Records the observations of locks in the same timers as Micrometer's
 * {@code DefaultMeterObservationHandler}, but in a fraction of the time: it looks up a
 * timer once, and has no timers of active tasks, in whose place there are the gauges of
 * {@link LockMeters}. Of several meter handlers in a group, the first one that supports
 * an observation gets it, so this one comes before the default one.
 */
public final class LockMeterObservationHandler implements MeterObservationHandler<LockObservationContext> {

	private final MeterRegistry registry;

	/** No more than the timers of the registry. */
	private final Map<TimerId, Timer> timers = new ConcurrentHashMap<>();

	/**
	 * Create a handler.
	 * @param registry has the timers
	 */
	public LockMeterObservationHandler(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public boolean supportsContext(Observation.Context context) {
		return context instanceof LockObservationContext;
	}

	@Override
	public void onStart(LockObservationContext context) {
		context.setStarted(now());
	}

	@Override
	public void onStop(LockObservationContext context) {
		long duration = now() - context.started();
		String name = context.getName();
		Throwable error = context.getError();
		TimerId id = new TimerId((name != null) ? name : context.getObservation().getName(),
				context.getLowCardinalityKeyValues(),
				(error != null) ? error.getClass().getSimpleName() : KeyValue.NONE_VALUE);
		Timer timer = this.timers.get(id);
		if (timer == null) {
			timer = this.timers.computeIfAbsent(id, this::create);
		}
		timer.record(duration, TimeUnit.NANOSECONDS);
	}

	private long now() {
		return this.registry.config().clock().monotonicTime();
	}

	private Timer create(TimerId id) {
		return this.registry.timer(id.name(),
				id.keyValues()
					.and("error", id.error())
					.stream()
					.map((each) -> Tag.of(each.getKey(), each.getValue()))
					.toList());
	}

	private record TimerId(String name, KeyValues keyValues, String error) {
	}

}
