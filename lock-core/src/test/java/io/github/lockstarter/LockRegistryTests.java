// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The behavior of every registry, with transactions and without.
 */
class LockRegistryTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	private static final ManualTime TIME = new ManualTime();

	private static final DefaultLockRegistry ENGINE = new DefaultLockRegistry(new MemoryLockStore(new LockMemory(TIME)),
			EngineSettings.DEFAULTS, LockListener.NO_OP, TIME);

	@AfterAll
	static void close() {
		ENGINE.close();
	}

	static List<LockRegistry> registries() {
		return List.of(ENGINE, new TransactionAwareLockRegistry(ENGINE, OnActiveTransaction.DEFER));
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("registries")
	void aLockTakenOnBehalfOfAnOwnerIsReentrantForItAndNobodyElse(LockRegistry registry) throws Exception {
		LockRequest request = REQUEST.withOwner("owner");
		try (Lease held = registry.acquire(request)) {
			registry.acquire(REQUEST.withOwner(new String("owner"))).close();
			registry.acquireAsync(request).get().close();
			assertThat(registry.tryAcquire(request)).hasValueSatisfying(Lease::close);
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> registry.acquire(REQUEST.withOwner("other")));
			assertThat(registry.tryAcquire(REQUEST)).isEmpty();
			assertThat(held.isHeld()).isTrue();
		}
		registry.acquire(REQUEST).close();
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("registries")
	void aClosedLeaseSaysSo(LockRegistry registry) {
		Lease lease = registry.acquire(REQUEST);
		lease.close();
		assertThatIllegalStateException().isThrownBy(lease::ensureHeld).withMessageEndingWith("is closed");
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("registries")
	void theSameHoldsForSeveralLocks(LockRegistry registry) throws Exception {
		LockSetRequest both = LockSetRequest.of(REQUEST, LockRequest.of("stock", 1002));
		LockSetRequest request = both.withOwner("owner");
		try (LeaseSet held = registry.acquireAll(request)) {
			registry.acquireAll(request).close();
			registry.acquireAllAsync(request).get().close();
			registry.acquire(REQUEST.withOwner("owner")).close();
			assertThat(registry.tryAcquireAll(request)).hasValueSatisfying(LeaseSet::close);
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> registry.acquireAll(both.withOwner("other")));
			assertThat(registry.tryAcquireAll(both)).isEmpty();
			assertThat(held.isHeld()).isTrue();
		}
		registry.acquireAll(both).close();
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("registries")
	void eachLockOfASetMayHaveAnOwnerOfItsOwn(LockRegistry registry) {
		LockRequest other = LockRequest.of("stock", 1002).withWaitTime(Duration.ZERO);
		try (Lease outer = registry.acquire(REQUEST.withOwner("outer"));
				LeaseSet both = registry.acquireAll(LockSetRequest.of(REQUEST.withOwner("outer"), other))) {
			assertThat(both.get(REQUEST.key()).fencingToken()).isEqualTo(outer.fencingToken());
			registry.acquire(other).close();
			assertThat(registry.tryAcquire(REQUEST)).isEmpty();
		}
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("registries")
	void aLeaseIsLoggedWithItsModeTokenAndState(LockRegistry registry) {
		LockRequest request = LockRequest.of("prices", 7);
		Lease lease = registry.acquire(request.withMode(LockMode.READ));
		String text = "Lease of lock 'prices:7' (READ, fencing token " + lease.fencingToken();
		assertThat(lease).hasToString(text + ", held)");
		lease.close();
		assertThat(lease).hasToString(text + ", closed)");
		Lease expired = registry.acquire(request.withLeaseTime(Duration.ofSeconds(5)));
		TIME.advance(Duration.ofSeconds(5));
		assertThat(expired)
			.hasToString("Lease of lock 'prices:7' (fencing token " + expired.fencingToken() + ", lost)");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(expired::close);
		try (LeaseSet both = registry.acquireAll(LockSetRequest.of(request, LockRequest.of("order")))) {
			assertThat(both).hasToString(both.all().toString());
		}
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("registries")
	void aTimeThatOnlyATemplateAppliesIsRefused(LockRegistry registry) {
		LockRequest request = REQUEST.withHoldAtLeast(Duration.ofHours(1));
		LockSetRequest both = LockSetRequest.of(request, LockRequest.of("stock", 1002));
		assertRefused(() -> registry.acquire(request));
		assertRefused(() -> registry.tryAcquire(request));
		assertRefused(() -> registry.acquireAsync(request));
		assertRefused(() -> registry.acquireAll(both));
		assertRefused(() -> registry.tryAcquireAll(both));
		assertRefused(() -> registry.acquireAllAsync(both));
		new LockTemplate(registry).executeWithoutResult(REQUEST, (lease) -> {
		});
	}

	private static void assertRefused(ThrowingCallable request) {
		assertThatIllegalArgumentException().isThrownBy(request)
			.withMessage("Lock 'stock:1001' is requested with 'holdAtLeast', which is for a LockTemplate only;"
					+ " call holdAtLeast(…) on the lease instead");
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("registries")
	void anInterruptEndsTheAcquisitionOnBehalfOfAnOwner(LockRegistry registry) {
		LockSetRequest both = LockSetRequest.of(REQUEST, LockRequest.of("stock", 1002)).withOwner("owner");
		// Often enough for a future that is done before its first check
		for (int i = 0; i < 1000; i++) {
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class)
				.isThrownBy(() -> registry.acquire(REQUEST.withOwner("owner")));
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> registry.acquireAll(both));
			assertThat(Thread.interrupted()).isTrue();
		}
		TIME.settle();
		registry.acquire(REQUEST).close();
	}

}
