// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.prometheus.PrometheusMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.benchmarks.servers.ServerAddress;

/**
 * The lock of this project from given jars, so that one run can compare two versions.
 * Each version has a separate class loader and is called through the auto-configuration
 * and the public API, which all versions have in common.
 */
final class VersionLock implements Competitor {

	private static final String LIBRARY = "io.github.lockstarter.";

	/** At the end of the name of a version with the meters of Spring Boot. */
	private static final String OBSERVED = "+meters";

	private final String name;

	/** Shared by all rounds, so that the JVM compiles each version once. */
	private final ClassLoader classes;

	/**
	 * Create a competitor.
	 * @param name its name in reports
	 * @param classPath the jars of the library in this version
	 */
	VersionLock(String name, String classPath) {
		this.name = name;
		this.classes = new VersionClassLoader(classPath, LIBRARY, getClass().getClassLoader());
	}

	/**
	 * Return the versions in a text.
	 * @param text versions of the form {@code name=classpath}, or
	 * {@code name+meters=classpath} to observe its locks with Micrometer, separated by
	 * semicolons
	 */
	static List<Competitor> parse(String text) {
		return Arrays.stream(text.split(";")).filter((version) -> !version.isBlank()).map((version) -> {
			String[] parts = version.strip().split("=", 2);
			if (parts.length < 2) {
				throw new IllegalArgumentException("'" + version + "' is not of the form name=classpath");
			}
			return (Competitor) new VersionLock(parts[0], parts[1]);
		}).toList();
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public Set<Ability> abilities() {
		return Ability.ofLocks();
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", server.port());
		connections.start();
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		try {
			context.setClassLoader(this.classes);
			context.getEnvironment()
				.getPropertySources()
				.addFirst(
						new MapPropertySource("benchmark", Map.of("distributed-lock.lease-time", leaseMillis + "ms")));
			context.registerBean(RedisConnectionFactory.class, () -> connections);
			if (this.name.endsWith(OBSERVED)) {
				context.register(MetricsAutoConfiguration.class, PrometheusMetricsExportAutoConfiguration.class,
						CompositeMeterRegistryAutoConfiguration.class, ObservationAutoConfiguration.class,
						this.classes.loadClass(LIBRARY + "autoconfigure.LockObservationAutoConfiguration"));
			}
			context.register(this.classes.loadClass(LIBRARY + "autoconfigure.DistributedLockAutoConfiguration"));
			context.refresh();
			return new Client(this.classes, context);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("Version '" + this.name + "' has another API", ex);
		}
	}

	/**
	 * Calls the registry of a version.
	 */
	private static final class Client implements LockClient {

		private final AnnotationConfigApplicationContext context;

		private final MethodHandle request;

		private final MethodHandle acquire;

		private final MethodHandle close;

		Client(ClassLoader loader, AnnotationConfigApplicationContext context) throws ReflectiveOperationException {
			Class<?> registry = loader.loadClass(LIBRARY + "LockRegistry");
			Class<?> request = loader.loadClass(LIBRARY + "LockRequest");
			Class<?> lease = loader.loadClass(LIBRARY + "Lease");
			MethodHandles.Lookup lookup = MethodHandles.publicLookup();
			MethodHandle withWaitTime = MethodHandles.insertArguments(
					lookup.findVirtual(request, "withWaitTime", MethodType.methodType(request, Duration.class)), 1,
					request.getField("FOREVER").get(null));
			MethodHandle of = MethodHandles.insertArguments(
					lookup.findStatic(request, "of", MethodType.methodType(request, String.class, Object.class)), 0,
					"benchmark");
			this.context = context;
			this.request = MethodHandles.filterReturnValue(of, withWaitTime)
				.asType(MethodType.methodType(Object.class, String.class));
			this.acquire = lookup.findVirtual(registry, "acquire", MethodType.methodType(lease, request))
				.bindTo(context.getBean(registry))
				.asType(MethodType.methodType(AutoCloseable.class, Object.class));
			this.close = lookup.findVirtual(lease, "close", MethodType.methodType(void.class))
				.asType(MethodType.methodType(void.class, AutoCloseable.class));
		}

		@Override
		public Runnable lock(String key) {
			try {
				AutoCloseable lease = (AutoCloseable) this.acquire.invokeExact((Object) this.request.invokeExact(key));
				return () -> unlock(lease);
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		}

		private void unlock(AutoCloseable lease) {
			try {
				this.close.invokeExact(lease);
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void close() {
			this.context.close();
		}

	}

}
