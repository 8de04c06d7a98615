// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.jmh;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.prometheus.PrometheusMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration;
import io.github.lockstarter.autoconfigure.LockObservationAutoConfiguration;

/**
 * An uncontended lock in memory, in an application without Micrometer, and with the
 * handlers and meters of Spring Boot.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(5)
public class ObservedLockBenchmark {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	@Param
	private Meters meters;

	private ConfigurableApplicationContext context;

	private LockRegistry registry;

	@Setup(Level.Trial)
	public void start() {
		this.context = new SpringApplicationBuilder(
				(this.meters == Meters.NONE) ? Application.class : ObservedApplication.class)
			.web(WebApplicationType.NONE)
			.properties("distributed-lock.store=memory", "logging.level.root=OFF", "spring.main.banner-mode=off",
					"management.prometheus.metrics.export.enabled=" + (this.meters == Meters.PROMETHEUS))
			.run();
		this.registry = this.context.getBean(LockRegistry.class);
	}

	@TearDown(Level.Trial)
	public void stop() {
		this.context.close();
	}

	@Benchmark
	public long uncontended() {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			return lease.fencingToken();
		}
	}

	/**
	 * Where an application keeps its meters.
	 */
	public enum Meters {

		NONE, SIMPLE, PROMETHEUS

	}

	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	public static class Application {

	}

	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LockObservationAutoConfiguration.class,
			ObservationAutoConfiguration.class, MetricsAutoConfiguration.class,
			CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class,
			PrometheusMetricsExportAutoConfiguration.class })
	public static class ObservedApplication {

	}

}
