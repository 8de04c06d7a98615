// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;
import java.util.List;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.fail;

/**
 * A request that a store cannot fulfil is refused, and never granted in a weaker form.
 */
class StoreCapabilitiesTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest FAIR = REQUEST.withMode(LockMode.FAIR);

	private static final LockRequest KEEPING = REQUEST.withHoldAtLeast(Duration.ofMinutes(1));

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final DefaultLockRegistry registry = this.instances.registry(new MapLockStore(this.instances.time));

	@Test
	void aModeThatTheStoreDoesNotGrantIsRefused() {
		assertRefusedMode(() -> this.registry.acquire(FAIR));
		assertRefusedMode(() -> this.registry.tryAcquire(FAIR));
		assertRefusedMode(() -> this.registry.acquireAsync(FAIR));
		List<LockRequest> several = List.of(LockRequest.of("stock", 1), FAIR);
		assertRefusedMode(() -> this.registry.acquireAll(several));
		assertRefusedMode(() -> this.registry.tryAcquireAll(several));
		assertRefusedMode(() -> this.registry.acquireAllAsync(several));
	}

	@Test
	void aViewOfALockInSuchAModeIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.readWriteLock(REQUEST.key()))
			.withMessage("Lock 'stock:1001' is requested in mode READ, but the lock store 'map' grants"
					+ " EXCLUSIVE, WRITE only");
	}

	@Test
	void keepingALockIsRefused() {
		assertRefusedKeeping(() -> this.registry.acquire(KEEPING));
		assertRefusedKeeping(() -> this.registry.acquireAsync(KEEPING));
		try (Lease lease = this.registry.acquire(REQUEST)) {
			assertRefusedKeeping(() -> lease.holdAtLeast(Duration.ofMinutes(1)));
			lease.holdAtLeast(Duration.ZERO);
		}
	}

	@Test
	void aTemplateRunsNoBodyUnderALockThatItCannotKeep() {
		LockTemplate template = new LockTemplate(this.registry);
		assertRefusedKeeping(() -> template.executeWithoutResult(KEEPING, (lease) -> fail("It should not have run")));
		assertThat(template.<String>executeAsync(KEEPING, (lease) -> fail("It should not have run")))
			.failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(IllegalArgumentException.class)
			.withMessageContaining("the lock store 'map' cannot keep a lock");
		this.registry.acquire(REQUEST).close();
	}

	@Test
	void whatTheStoreCanDoIsDone() {
		try (Lease lease = this.registry.acquire(REQUEST.withMode(LockMode.WRITE))) {
			assertThat(lease.isHeld()).isTrue();
		}
	}

	private static void assertRefusedMode(ThrowingCallable request) {
		assertThatIllegalArgumentException().isThrownBy(request)
			.withMessage("Lock 'stock:1001' is requested in mode FAIR, but the lock store 'map' grants"
					+ " EXCLUSIVE, WRITE only");
	}

	private static void assertRefusedKeeping(ThrowingCallable request) {
		assertThatIllegalArgumentException().isThrownBy(request)
			.withMessage("Lock 'stock:1001' is requested with 'holdAtLeast', but the lock store 'map' cannot"
					+ " keep a lock after its owner has released it");
	}

}
