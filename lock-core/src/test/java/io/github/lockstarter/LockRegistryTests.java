// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What every registry can do, the one of the library and one that leaves it to the
 * interface.
 */
class LockRegistryTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	private static final DefaultLockRegistry ENGINE = new DefaultLockRegistry(new MemoryLockStore(),
			EngineSettings.DEFAULTS, LockListener.NO_OP);

	@AfterAll
	static void close() {
		ENGINE.close();
	}

	static List<LockRegistry> registries() {
		return List.of(ENGINE, new TransactionAwareLockRegistry(ENGINE, OnActiveTransaction.DEFER), minimal());
	}

	/** Asks the engine for what the interface does not do by itself. */
	private static LockRegistry minimal() {
		InvocationHandler handler = (proxy, method, arguments) -> {
			try {
				return method.isDefault() ? InvocationHandler.invokeDefault(proxy, method, arguments)
						: method.invoke(ENGINE, arguments);
			}
			catch (InvocationTargetException ex) {
				throw ex.getCause();
			}
		};
		return (LockRegistry) Proxy.newProxyInstance(LockRegistryTests.class.getClassLoader(),
				new Class<?>[] { LockRegistry.class }, handler);
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("registries")
	void aLockTakenOnBehalfOfAnOwnerIsReentrantForItAndNobodyElse(LockRegistry registry) {
		LockRequest both = REQUEST.and(LockRequest.of("stock", 1002));
		for (LockRequest request : List.of(REQUEST, both)) {
			try (Lease held = registry.acquire(request, (key) -> "owner")) {
				registry.acquire(request, (key) -> "owner").close();
				assertThatExceptionOfType(LockContendedException.class)
					.isThrownBy(() -> registry.acquire(request, (key) -> "other"));
				assertThat(registry.tryAcquire(request)).isEmpty();
				assertThat(held.isHeld()).isTrue();
			}
			registry.acquire(request).close();
		}
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("registries")
	void anInterruptEndsTheAcquisitionOnBehalfOfAnOwner(LockRegistry registry) {
		// Often enough for a future that is done before anybody looks at it
		for (int i = 0; i < 1000; i++) {
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class)
				.isThrownBy(() -> registry.acquire(REQUEST, (key) -> "owner"));
			assertThat(Thread.interrupted()).isTrue();
		}
		registry.acquire(REQUEST.withWaitTime(Duration.ofSeconds(20))).close();
	}

}
