// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

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
 * The behavior of every ENGINE, with transactions and without.
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

	@Test
	void aLockTakenOnBehalfOfAnOwnerIsReentrantForItAndNobodyElse() throws Exception {
		LockRequest request = REQUEST.withOwner("owner");
		try (Lease held = ENGINE.acquire(request)) {
			ENGINE.acquire(REQUEST.withOwner(new String("owner"))).close();
			ENGINE.acquireAsync(request).get().close();
			assertThat(ENGINE.tryAcquire(request)).hasValueSatisfying(Lease::close);
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> ENGINE.acquire(REQUEST.withOwner("other")));
			assertThat(ENGINE.tryAcquire(REQUEST)).isEmpty();
			assertThat(held.isHeld()).isTrue();
		}
		ENGINE.acquire(REQUEST).close();
	}

	@Test
	void aClosedLeaseSaysSo() {
		Lease lease = ENGINE.acquire(REQUEST);
		lease.close();
		assertThatIllegalStateException().isThrownBy(lease::ensureHeld).withMessageEndingWith("is closed");
	}

	@Test
	void anOwnerWithSeveralLocksReentersInThreadsAndFutures() throws Exception {
		List<LockRequest> both = List.of(REQUEST, LockRequest.of("stock", 1002));
		List<LockRequest> request = withOwner(both, "owner");
		try (LeaseSet held = ENGINE.acquireAll(request)) {
			ENGINE.acquireAll(request).close();
			ENGINE.acquireAllAsync(request).get().close();
			ENGINE.acquire(REQUEST.withOwner("owner")).close();
			assertThat(ENGINE.tryAcquireAll(request)).hasValueSatisfying(LeaseSet::close);
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> ENGINE.acquireAll(withOwner(both, "other")));
			assertThat(ENGINE.tryAcquireAll(both)).isEmpty();
			assertThat(held.isHeld()).isTrue();
		}
		ENGINE.acquireAll(both).close();
	}

	private static List<LockRequest> withOwner(List<LockRequest> requests, Object owner) {
		return requests.stream().map((request) -> request.withOwner(owner)).toList();
	}

	@Test
	void eachLockOfASetMayHaveAnOwnerOfItsOwn() {
		LockRequest other = LockRequest.of("stock", 1002).withWaitTime(Duration.ZERO);
		try (Lease outer = ENGINE.acquire(REQUEST.withOwner("outer"));
				LeaseSet both = ENGINE.acquireAll(List.of(REQUEST.withOwner("outer"), other))) {
			assertThat(both.get(REQUEST.key()).fencingToken()).isEqualTo(outer.fencingToken());
			ENGINE.acquire(other).close();
			assertThat(ENGINE.tryAcquire(REQUEST)).isEmpty();
		}
	}

	@Test
	void aLeaseIsLoggedWithItsModeTokenAndState() {
		LockRequest request = LockRequest.of("prices", 7);
		Lease lease = ENGINE.acquire(request.withMode(LockMode.READ));
		String text = "Lease of lock 'prices:7' (READ, fencing token " + lease.fencingToken();
		assertThat(lease).hasToString(text + ", held)");
		lease.close();
		assertThat(lease).hasToString(text + ", closed)");
		Lease expired = ENGINE.acquire(request.withLeaseTime(Duration.ofSeconds(5)));
		TIME.advance(Duration.ofSeconds(5));
		assertThat(expired)
			.hasToString("Lease of lock 'prices:7' (fencing token " + expired.fencingToken() + ", lost)");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(expired::close);
		try (LeaseSet both = ENGINE.acquireAll(List.of(request, LockRequest.of("order")))) {
			assertThat(both).hasToString(both.all().toString());
		}
	}

	@Test
	void aTimeThatOnlyATemplateAppliesIsRefused() {
		LockRequest request = REQUEST.withHoldAtLeast(Duration.ofHours(1));
		List<LockRequest> both = List.of(request, LockRequest.of("stock", 1002));
		assertRefused(() -> ENGINE.acquire(request));
		assertRefused(() -> ENGINE.tryAcquire(request));
		assertRefused(() -> ENGINE.acquireAsync(request));
		assertRefused(() -> ENGINE.acquireAll(both));
		assertRefused(() -> ENGINE.tryAcquireAll(both));
		assertRefused(() -> ENGINE.acquireAllAsync(both));
		new LockTemplate(ENGINE).executeWithoutResult(REQUEST, (lease) -> {
		});
	}

	private static void assertRefused(ThrowingCallable request) {
		assertThatIllegalArgumentException().isThrownBy(request)
			.withMessage("Lock 'stock:1001' is requested with 'holdAtLeast', which is for a LockTemplate only;"
					+ " call holdAtLeast(…) on the lease instead");
	}

	@Test
	void anInterruptEndsTheAcquisitionOnBehalfOfAnOwner() {
		List<LockRequest> both = withOwner(List.of(REQUEST, LockRequest.of("stock", 1002)), "owner");
		// Often enough for a future that is done before its first check
		for (int i = 0; i < 1000; i++) {
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class)
				.isThrownBy(() -> ENGINE.acquire(REQUEST.withOwner("owner")));
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> ENGINE.acquireAll(both));
			assertThat(Thread.interrupted()).isTrue();
		}
		TIME.settle();
		ENGINE.acquire(REQUEST).close();
	}

}
