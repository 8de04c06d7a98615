// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseListener;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.FaultInjectingStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A reader that wants to join while the lease of the other readers is uncertain for a
 * moment: the store has answered that no writer waits, but not to a renewal.
 */
class DoubtfulReaderTests {

	private static final Duration LEASE_TIME = Duration.ofMillis(1800);

	private static final LockRequest READ = LockRequest.of("prices", 1001).withMode(LockMode.READ);

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore());

	private final AtomicBoolean silent = new AtomicBoolean();

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final SlowLine line = new SlowLine(this.store.waitingLine());

	@Test
	void itJoinsWhenTheDoubtIsOver() throws Exception {
		assertThat(lateReader(Duration.ofSeconds(20))).isTrue();
	}

	@Test
	void itDoesNotWaitForLongerThanItsWaitTime() throws Exception {
		// With or without the lock
		lateReader(LEASE_TIME.minusMillis(200));
	}

	/**
	 * Let a reader come while another one holds the lock.
	 * @return whether it has joined
	 */
	private boolean lateReader(Duration waitTime) throws Exception {
		this.store.renew.loseRequests(this.silent::get);
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(10), LEASE_TIME, 3, Duration.ofSeconds(1),
				Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofMillis(100));
		try (DefaultLockRegistry registry = new DefaultLockRegistry(new DirectStore(this.store) {

			@Override
			public WaitingLine waitingLine() {
				return DoubtfulReaderTests.this.line;
			}

		}, settings, this.events::add); Lease lasting = registry.acquireAsync(READ).join()) {
			// Only after a time slice does a reader have to ask
			Awaitility.await().until(() -> lasting.remaining().compareTo(LEASE_TIME.minusMillis(150)) < 0);
			Call<Boolean> late = Callers.start(() -> join(registry, waitTime));
			Awaitility.await().until(this.line.asked::get);
			this.silent.set(true);
			Awaitility.await().until(() -> this.events.stream().anyMatch(LockEvent.Suspect.class::isInstance));
			this.line.answer.complete(false);
			this.silent.set(false);
			Awaitility.await().until(() -> !late.thread().isAlive());
			assertThat(lasting.isHeld()).isTrue();
			return late.get();
		}
	}

	private static boolean join(DefaultLockRegistry registry, Duration waitTime) {
		try {
			registry.acquire(READ.withWaitTime(waitTime)).close();
			return true;
		}
		catch (LockContendedException ex) {
			return false;
		}
	}

	/**
	 * A line whose first answer comes when the test gives it.
	 */
	private static final class SlowLine implements WaitingLine {

		private final WaitingLine delegate;

		private final AtomicBoolean asked = new AtomicBoolean();

		private final CompletableFuture<Boolean> answer = new CompletableFuture<>();

		SlowLine(WaitingLine delegate) {
			this.delegate = delegate;
		}

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
			return this.asked.getAndSet(true) ? this.delegate.isAwaited(key) : this.answer;
		}

	}

}
