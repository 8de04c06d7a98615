// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.store.ReleaseListener;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.FaultInjectingStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What callers are told is true.
 */
class HonestyTests {

	private static final LockKey FIRST = LockKey.of("a", 1);

	private final LockMemory memory = new LockMemory();

	@Test
	void aCallerBehindAnotherOneIsToldOfTheOutage() {
		DefaultLockRegistry registry = registry(new DirectStore(new MemoryLockStore(this.memory)) {

			@Override
			public CompletionStage<LockAttempt> acquire(LeaseRequest request, Place place) {
				return new CompletableFuture<LockAttempt>().orTimeout(2, TimeUnit.SECONDS);
			}

		}, 30_000);
		CompletableFuture<Lease> before = registry.acquireAsync(LockRequest.of(FIRST));
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> registry.acquire(LockRequest.of(FIRST).withWaitTime(Duration.ofMillis(700))));
		before.cancel(false);
	}

	/**
	 * The lease becomes uncertain for a moment while the store is asked whether a writer
	 * waits.
	 */
	@Test
	void aReaderThatWasTurnedAwayByADoubtJoinsWhenItIsOver() throws Exception {
		readers(Duration.ofSeconds(20), true);
	}

	@Test
	void aReaderThatWasTurnedAwayByADoubtDoesNotWaitForLongerThanItsWaitTime() throws Exception {
		readers(Duration.ofMillis(800), false);
	}

	private void readers(Duration waitTime, boolean joins) throws Exception {
		AtomicBoolean asked = new AtomicBoolean();
		AtomicBoolean silent = new AtomicBoolean();
		FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));
		store.renew.loseRequests(silent::get);
		DefaultLockRegistry registry = registry(new DirectStore(store) {

			@Override
			public WaitingLine waitingLine() {
				return new SlowLine(super.waitingLine(), asked, silent);
			}

		}, 900);
		LockRequest read = LockRequest.of(FIRST).withMode(LockMode.READ);
		Lease lasting = registry.acquireAsync(read).get();
		Thread.sleep(200);
		Call<Boolean> late = Callers.start(() -> {
			try {
				registry.acquire(read.withWaitTime(waitTime)).close();
				return true;
			}
			catch (LockContendedException ex) {
				return false;
			}
		});
		Thread.sleep(450);
		silent.set(false);
		long end = System.nanoTime() + Duration.ofSeconds(4).toNanos();
		while (late.thread().isAlive() && System.nanoTime() - end < 0) {
			Thread.sleep(10);
		}
		boolean returned = !late.thread().isAlive();
		assertThat(lasting.isHeld()).isTrue();
		lasting.close();
		assertThat(returned).as("returned while the other reader held the lock").isTrue();
		if (joins) {
			assertThat(late.get()).isTrue();
		}
	}

	private static DefaultLockRegistry registry(LockStore store, long leaseMillis) {
		return new DefaultLockRegistry(
				store, new EngineSettings(Duration.ofSeconds(10), Duration.ofMillis(leaseMillis), 3,
						Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofMillis(100)),
				(event) -> {
				});
	}

	/**
	 * A line whose first answer is 400 ms late. From the first question on, renewals
	 * fail.
	 */
	private record SlowLine(WaitingLine delegate, AtomicBoolean asked, AtomicBoolean silent) implements WaitingLine {

		@Override
		public boolean listen(ReleaseListener listener) {
			return this.delegate.listen(listener);
		}

		@Override
		public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
			return this.delegate.enter(key, owner);
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key) {
			return this.delegate.withdraw(key);
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
			return this.delegate.withdraw(key, owner);
		}

		@Override
		public CompletionStage<Boolean> isAwaited(LockKey key) {
			if (this.asked.getAndSet(true)) {
				return this.delegate.isAwaited(key);
			}
			this.silent.set(true);
			return new CompletableFuture<Boolean>().completeOnTimeout(false, 400, TimeUnit.MILLISECONDS);
		}

	}

}
