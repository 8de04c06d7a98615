// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.test.Callers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A loss that the watchdog has noticed, while its thread is still busy with the store.
 */
class UnfinishedLossTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001)
		.withLeaseTime(Duration.ofHours(1))
		.withOwner("owner");

	private final LockMemory memory = new LockMemory();

	private final CountDownLatch noticed = new CountDownLatch(1);

	private final CountDownLatch answer = new CountDownLatch(1);

	private final DirectStore store = new DirectStore(new MemoryLockStore(this.memory)) {

		@Override
		public CompletionStage<ReleaseOutcome> release(LockKey key, OwnerToken owner, Place next) {
			UnfinishedLossTests.this.noticed.countDown();
			await(UnfinishedLossTests.this.answer);
			return super.release(key, owner, next);
		}

	};

	@Test
	void theOwnerThatComesAgainDoesNotWaitForThatThread() throws Exception {
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(10), Duration.ofMillis(600), 3,
				Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofSeconds(1));
		try (DefaultLockRegistry registry = new DefaultLockRegistry(this.store, settings, LockListener.NO_OP)) {
			Lease lost = registry.acquire(REQUEST);
			this.memory.clear();
			await(this.noticed);
			Lease next = Callers.start(() -> registry.acquire(REQUEST)).get();
			this.answer.countDown();
			assertThat(next.fencingToken()).isGreaterThan(lost.fencingToken());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::close);
			next.close();
		}
		finally {
			this.answer.countDown();
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
