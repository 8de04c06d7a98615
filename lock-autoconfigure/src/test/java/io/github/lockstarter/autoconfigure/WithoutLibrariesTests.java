// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.File;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application without an optional library on its class path.
 */
class WithoutLibrariesTests {

	@Test
	void itsFuturesAreFollowedWithoutReactor() throws Exception {
		startWithout("reactor.core.publisher.Flux", "reactor-core", "reactive-streams");
	}

	@Test
	void itStartsWithoutMicrometer() throws Exception {
		startWithout("io.micrometer.observation.Observation", "micrometer");
	}

	private void startWithout(String type, String... libraries) throws Exception {
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		try (URLClassLoader classes = new URLClassLoader(classPath(libraries), ClassLoader.getPlatformClassLoader())) {
			thread.setContextClassLoader(classes);
			assertThat(ClassUtils.isPresent(type, classes)).isFalse();
			Callable<?> application = (Callable<?>) classes.loadClass(Application.class.getName())
				.getDeclaredConstructor()
				.newInstance();
			assertThat(application.call()).isEqualTo("reserved 1001");
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	private static URL[] classPath(String... missing) {
		return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> Arrays.stream(missing).noneMatch(entry::contains))
			.map(WithoutLibrariesTests::url)
			.toArray(URL[]::new);
	}

	private static URL url(String entry) {
		try {
			return new File(entry).toURI().toURL();
		}
		catch (MalformedURLException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Runs in a separate class loader, which reads each class anew, so it needs few.
	 */
	public static class Application implements Callable<String> {

		@Override
		public String call() throws Exception {
			try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
				TestPropertyValues.of("distributed-lock.store=memory").applyTo(context);
				context.register(Shop.class);
				context.refresh();
				return context.getBean(Stock.class).reserve(1001).get(20, TimeUnit.SECONDS);
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DistributedLockAutoConfiguration.class,
			LockObservationAutoConfiguration.class })
	@Import(Stock.class)
	public static class Shop {

	}

	public static class Stock {

		@DistributedLock(name = "stock", key = "#productId")
		public CompletableFuture<String> reserve(long productId) {
			return CompletableFuture.supplyAsync(() -> "reserved " + productId);
		}

	}

}
