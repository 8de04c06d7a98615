// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.observation.DefaultLockObservationConvention;
import io.github.lockstarter.observation.LockMeters;
import io.github.lockstarter.observation.LockObservationContext;
import io.github.lockstarter.observation.LockObservationConvention;
import io.github.lockstarter.observation.LockObservations;
import io.github.lockstarter.spring.LockRegistryDecorator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications of Spring Boot with and without Micrometer.
 */
class LockObservationAutoConfigurationTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private final ApplicationContextRunner plain = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LockObservationAutoConfiguration.class))
		.withPropertyValues("distributed-lock.store=memory");

	private final ApplicationContextRunner observed = this.plain
		.withConfiguration(AutoConfigurations.of(ObservationAutoConfiguration.class, MetricsAutoConfiguration.class,
				SimpleMetricsExportAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class));

	@Test
	void anApplicationWithMetricsHasTimersAndMeters() {
		run(this.observed, (context) -> {
			LockRegistry registry = context.getBean(LockRegistry.class);
			assertThat(registry.delegate()).isInstanceOf(DefaultLockRegistry.class);
			registry.acquire(REQUEST).close();
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			assertThat(meters.get("distributed.lock.acquire").tag("lock.store", "memory").timer().count()).isOne();
			assertThat(meters.getMeters()).extracting(Meter::getId)
				.extracting(Meter.Id::getName)
				.filteredOn((name) -> name.startsWith("distributed.lock"))
				.containsExactlyInAnyOrder("distributed.lock.acquire", "distributed.lock.hold", "distributed.lock.held",
						"distributed.lock.waiting", "distributed.lock.lost", "distributed.lock.suspect",
						"distributed.lock.fenced", "distributed.lock.handoffs", "distributed.lock.orphans",
						"distributed.lock.renewal.lag", "distributed.lock.held.longest",
						"distributed.lock.waiting.longest", "distributed.lock.unavailable");
		});
	}

	@Test
	void timersAndMetersAreSwitchedOffAsAnyOthers() {
		run(this.observed.withPropertyValues("management.observations.enable.distributed.lock=false",
				"management.metrics.enable.distributed.lock=false"), (context) -> {
					context.getBean(LockRegistry.class).acquire(REQUEST).close();
					assertThat(context.getBean(MeterRegistry.class).getMeters()).extracting(Meter::getId)
						.extracting(Meter.Id::getName)
						.noneMatch((name) -> name.startsWith("distributed.lock"));
				});
	}

	@Test
	void observationsNeedNoMeters() {
		run(this.plain.withBean(ObservationRegistry.class, ObservationRegistry::create)
			.withClassLoader(new FilteredClassLoader(MeterRegistry.class)), (context) -> {
				assertThat(context).hasSingleBean(LockObservations.class).doesNotHaveBean(LockMeters.class);
				context.getBean(LockRegistry.class).acquire(REQUEST).close();
			});
	}

	@Test
	void anApplicationNamesThemItself() {
		run(this.observed.withBean(LockObservationConvention.class, Regional::new), (context) -> {
			context.getBean(LockRegistry.class).acquire(REQUEST).close();
			assertThat(context.getBean(MeterRegistry.class)
				.get("distributed.lock.hold")
				.tag("region", "eu")
				.timer()
				.count()).isOne();
		});
	}

	@Test
	void anApplicationDecoratesRegistriesBesides() {
		List<LockRegistry> decorated = new ArrayList<>();
		run(this.observed.withBean(LockRegistryDecorator.class, () -> (name, registry) -> {
			decorated.add(registry);
			return registry;
		}), (context) -> {
			context.getBean(LockRegistry.class).acquire(REQUEST).close();
			assertThat(decorated).hasSize(1);
			assertThat(context.getBean(MeterRegistry.class).get("distributed.lock.hold").timer().count()).isOne();
		});
	}

	@Test
	void anApplicationObservesItself() {
		LockObservations own = new LockObservations(ObservationRegistry.NOOP, null);
		run(this.observed.withBean("own", LockObservations.class, () -> own),
				(context) -> assertThat(context.getBean(LockObservations.class)).isSameAs(own));
	}

	@Test
	void anApplicationWithoutLocksHasNone() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(LockObservationAutoConfiguration.class, ObservationAutoConfiguration.class,
							MetricsAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockMeters.class));
	}

	@Test
	void anApplicationWithoutMicrometerHasTheSameBeansAsBefore() {
		List<String> before = beans(new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=memory"));
		assertThat(beans(this.plain)).isEqualTo(before);
		assertThat(beans(this.plain.withClassLoader(new FilteredClassLoader("io.micrometer")))).isEqualTo(before);
	}

	private static List<String> beans(ApplicationContextRunner runner) {
		List<String> names = new ArrayList<>();
		run(runner, (context) -> names.addAll(Arrays.asList(context.getBeanDefinitionNames())));
		return names;
	}

	private static void run(ApplicationContextRunner runner, Consumer<AssertableApplicationContext> assertions) {
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			assertions.accept(context);
		});
	}

	/**
	 * Adds a value that is the same for all locks of the application.
	 */
	private static final class Regional extends DefaultLockObservationConvention {

		@Override
		public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
			return super.getLowCardinalityKeyValues(context).and("region", "eu");
		}

	}

}
