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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration;

/**
 * Compares an annotated method with keys of several kinds to the plain method.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class AnnotatedCallBenchmark {

	private final Shop plain = new Shop();

	private final Order order = new Order(1001);

	private ConfigurableApplicationContext context;

	private Shop locked;

	@Setup(Level.Trial)
	public void start() {
		this.context = new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.properties("distributed-lock.store=memory", "logging.level.root=OFF", "spring.main.banner-mode=off")
			.run();
		this.locked = this.context.getBean(Shop.class);
	}

	@TearDown(Level.Trial)
	public void stop() {
		this.context.close();
	}

	@Benchmark
	public long plainCall() {
		return this.plain.parameter(1001);
	}

	@Benchmark
	public long withoutKey() {
		return this.locked.withoutKey(1001);
	}

	@Benchmark
	public long keyFromParameter() {
		return this.locked.parameter(1001);
	}

	@Benchmark
	public long keyFromProperty() {
		return this.locked.property(this.order);
	}

	/**
	 * Enables this library and no other.
	 */
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	public static class Application {

		@Bean
		Shop shop() {
			return new Shop();
		}

	}

	public record Order(long id) {
	}

	public static class Shop {

		@DistributedLock(name = "stock")
		public long withoutKey(long productId) {
			return productId;
		}

		@DistributedLock(name = "stock", key = "#productId")
		public long parameter(long productId) {
			return productId;
		}

		@DistributedLock(name = "stock", key = "#order.id")
		public long property(Order order) {
			return order.id();
		}

	}

}
