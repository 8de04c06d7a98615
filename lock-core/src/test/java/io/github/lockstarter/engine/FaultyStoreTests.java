// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.store.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A single exception that a store throws against its contract, or an {@link Error} such
 * as a lack of memory, does no lasting harm.
 */
class FaultyStoreTests {

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("stock", 1))
		.withWaitTime(Duration.ofSeconds(2));

	private final AtomicBoolean faulty = new AtomicBoolean();

	private final DefaultLockRegistry registry = new DefaultLockRegistry(
			new FaultyStore(), new EngineSettings(Duration.ofSeconds(2), Duration.ofMillis(600), 3,
					Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofMillis(100)),
			(event) -> {
			});

	@Test
	void anAcquisitionThatThrowsDoesNotBlockTheLock() throws Exception {
		this.faulty.set(true);
		CompletableFuture<Lease> first = this.registry.acquireAsync(REQUEST);
		assertThat(first.handle((lease, ex) -> ex).get(5, TimeUnit.SECONDS)).isNotNull();
		this.registry.acquireAsync(REQUEST).get(5, TimeUnit.SECONDS).close();
	}

	@Test
	void aReleaseThatThrowsDoesNotBlockTheLock() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		this.faulty.set(true);
		try {
			lease.close();
		}
		catch (IllegalStateException ex) {
			// Allowed
		}
		this.registry.acquireAsync(REQUEST).get(5, TimeUnit.SECONDS).close();
	}

	@Test
	void aRenewalThatThrowsEndsNoOtherRenewal() throws Exception {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			this.faulty.set(true);
			Thread.sleep(1500);
			assertThat(lease.isHeld()).isTrue();
		}
	}

	private final class FaultyStore extends DirectStore {

		FaultyStore() {
			super(new MemoryLockStore());
		}

		private void fail() {
			if (FaultyStoreTests.this.faulty.getAndSet(false)) {
				throw new IllegalStateException("faulty");
			}
		}

		@Override
		public CompletionStage<LockAttempt> acquire(LeaseRequest request, Place place) {
			fail();
			return super.acquire(request, place);
		}

		@Override
		public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
			fail();
			return super.renew(requests);
		}

		@Override
		public CompletionStage<ReleaseOutcome> release(LockKey key, OwnerToken owner, Place next) {
			fail();
			return super.release(key, owner, next);
		}

	}

}
