// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration;
import io.github.lockstarter.benchmarks.servers.BenchmarkServer;
import io.github.lockstarter.benchmarks.servers.ServerKind;
import io.github.lockstarter.redis.RedisLockStore;
import io.github.lockstarter.servers.ServerProcess;
import io.github.lockstarter.spring.LockRegistryFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Each version of the library works with its own classes and scripts.
 */
class VersionLockTests {

	private final String current = currentClassPath();

	@Test
	void versionsHaveClassesOfTheirOwn() throws Exception {
		try (VersionClassLoader loader = new VersionClassLoader(this.current, "io.github.lockstarter.",
				getClass().getClassLoader())) {
			Class<?> registry = loader.loadClass(LockRegistry.class.getName());
			assertThat(registry).isNotEqualTo(LockRegistry.class);
			assertThat(registry.getClassLoader()).isSameAs(loader);
			assertThat(loader.getResource("io/github/lockstarter/redis/acquire.lua")).isNotNull();
			assertThat(loader.loadClass("org.springframework.core.env.Environment").getClassLoader())
				.isNotSameAs(loader);
		}
	}

	@Test
	void aVersionExcludesTheOtherOnes() throws Exception {
		try (BenchmarkServer redis = ServerKind.REDIS.start();
				LockClient one = new VersionLock("one", this.current).connect(redis.address(), 30_000);
				LockClient other = new VersionLock("other", this.current).connect(redis.address(), 30_000)) {
			Runnable unlock = one.lock("a");
			Thread waiter = new Thread(() -> other.lock("a").run());
			waiter.start();
			ServerProcess.await("A waiter",
					() -> !redis.counters().command("KEYS", "*:queue").isEmpty() || !waiter.isAlive());
			assertThat(waiter.isAlive()).isTrue();
			unlock.run();
			waiter.join();
		}
	}

	@Test
	void versionsAreNamedWithTheirJars() {
		assertThat(VersionLock
			.parse("before=" + this.current + ";after=" + this.current + File.pathSeparator + this.current))
			.extracting(Competitor::name)
			.containsExactly("before", "after");
		assertThat(VersionLock.parse("")).isEqualTo(List.of());
		assertThatIllegalArgumentException().isThrownBy(() -> VersionLock.parse("a.jar"))
			.withMessage("'a.jar' is not of the form name=classpath");
	}

	private static String currentClassPath() {
		return Stream
			.of(LockRegistry.class, RedisLockStore.class, LockRegistryFactory.class,
					DistributedLockAutoConfiguration.class)
			.map(VersionLockTests::locationOf)
			.collect(Collectors.joining(File.pathSeparator));
	}

	private static String locationOf(Class<?> type) {
		try {
			return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
