// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A loss that the watchdog has noticed, while its thread is still busy with the store.
 */
class UnfinishedLossTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001)
		.withLeaseTime(Duration.ofHours(1))
		.withOwner("owner");

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final LockMemory memory = this.instances.memory;

	private final CountDownLatch noticed = new CountDownLatch(1);

	private final CountDownLatch answer = new CountDownLatch(1);

	private final DirectStore store = new DirectStore(new MemoryLockStore(this.memory)) {

		@Override
		public CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
			UnfinishedLossTests.this.noticed.countDown();
			Callers.await(UnfinishedLossTests.this.answer);
			return super.release(key, owner);
		}

	};

	@Test
	void anOwnerLearnsOfItBeforeASlowListenerDoes() {
		CountDownLatch told = new CountDownLatch(1);
		CountDownLatch heard = new CountDownLatch(1);
		DefaultLockRegistry registry = this.instances.registry(new MemoryLockStore(this.memory),
				EngineSettings.DEFAULTS, (event) -> {
					if (event instanceof LockEvent.Lost) {
						Callers.await(told);
						heard.countDown();
					}
				});
		Lease lost = registry.acquire(REQUEST);
		lost.onLost((loss) -> told.countDown());
		this.memory.clear();
		this.instances.time.advance(Duration.ofSeconds(30));
		Callers.await(heard);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::close);
	}

	@Test
	void theOwnerThatComesAgainDoesNotWaitForThatThread() throws Exception {
		DefaultLockRegistry registry = this.instances.registry(this.store);
		Lease lost = registry.acquire(REQUEST);
		this.memory.clear();
		Call<Boolean> watchdog = Callers.start(() -> {
			this.instances.time.advance(Duration.ofSeconds(30));
			return true;
		});
		Callers.await(this.noticed);
		Lease next = Callers.start(() -> registry.acquire(REQUEST)).get();
		this.answer.countDown();
		assertThat(watchdog.get()).isTrue();
		assertThat(next.fencingToken()).isGreaterThan(lost.fencingToken());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::close);
		next.close();
	}

}
