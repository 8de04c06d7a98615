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

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application without Reactor on its class path.
 */
class WithoutReactorTests {

	@Test
	void itStartsAndItsFuturesAreFollowed() throws Exception {
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		try (URLClassLoader classes = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
			thread.setContextClassLoader(classes);
			Callable<?> application = (Callable<?>) classes.loadClass(Application.class.getName())
				.getDeclaredConstructor()
				.newInstance();
			assertThat(application.call()).isEqualTo("reserved 1001");
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	private static URL[] classPath() {
		return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> !entry.contains("reactor-core") && !entry.contains("reactive-streams"))
			.map(WithoutReactorTests::url)
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
	 * Runs in a separate class loader.
	 */
	public static class Application implements Callable<String> {

		private String result = "";

		@Override
		public String call() {
			ClassLoader classes = getClass().getClassLoader();
			assertThat(ClassUtils.isPresent("reactor.core.publisher.Flux", classes)).isFalse();
			assertThat(ClassUtils.isPresent("org.reactivestreams.Publisher", classes)).isFalse();
			new ApplicationContextRunner()
				.withConfiguration(
						AutoConfigurations.of(AopAutoConfiguration.class, DistributedLockAutoConfiguration.class))
				.withPropertyValues("distributed-lock.store=memory")
				.withBean(Stock.class)
				.run((context) -> this.result = context.getBean(Stock.class).reserve(1001).get(20, TimeUnit.SECONDS));
			return this.result;
		}

	}

	public static class Stock {

		@DistributedLock(name = "stock", key = "#productId")
		public CompletableFuture<String> reserve(long productId) {
			return CompletableFuture.supplyAsync(() -> "reserved " + productId);
		}

	}

}
