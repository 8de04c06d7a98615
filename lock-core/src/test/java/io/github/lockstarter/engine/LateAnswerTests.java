// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A store that does not block, and grants a lock to a waiter that does not wait any more.
 */
class LateAnswerTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ofMinutes(1));

	private static final EngineSettings DEFAULTS = EngineSettings.DEFAULTS;

	private final LockMemory memory = new LockMemory();

	private final LateStore store = new LateStore(new MemoryLockStore(this.memory));

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store,
			new EngineSettings(DEFAULTS.waitTime(), DEFAULTS.leaseTime(), DEFAULTS.renewalsPerLease(),
					DEFAULTS.pollInterval(), DEFAULTS.pollIntervalWithoutMessages(), DEFAULTS.timeSlice(),
					Duration.ZERO),
			LockListener.NO_OP);

	@AfterEach
	void theGrantIsReleased() {
		Awaitility.await().until(() -> this.memory.isEmpty() && this.registry.activeLocks() == 0);
		this.registry.close();
	}

	@Test
	void anAnswerAfterTheEndOfTheWait() throws Exception {
		Call<Lease> waiter = Callers.start(() -> this.registry.acquire(REQUEST));
		Awaitility.await().until(() -> this.store.answer.getNumberOfDependents() > 0);
		waiter.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(waiter::get);
		this.store.answer.grant();
	}

	@Test
	void anAnswerThatReachesTheWaiterTogetherWithTheEndOfTheWait() {
		this.store.answer.whenAwaited = () -> {
			this.registry.drain();
			this.store.answer.grant();
		};
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(REQUEST));
	}

	/**
	 * A store that postpones its answer to the first request for a lock.
	 */
	private static final class LateStore extends DirectStore {

		private final LateAnswer answer = new LateAnswer();

		LateStore(LockStore delegate) {
			super(delegate);
		}

		@Override
		public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
			this.answer.grant = () -> this.answer.complete(super.acquire(request, wait).toCompletableFuture().join());
			return this.answer;
		}

		@Override
		public WaitingLine waitingLine() {
			return WaitingLine.NONE;
		}

	}

	/**
	 * The answer to a request for a lock.
	 */
	private static final class LateAnswer extends CompletableFuture<AcquireResult> {

		private volatile Runnable grant = () -> {
		};

		private volatile Runnable whenAwaited = () -> {
		};

		void grant() {
			this.grant.run();
		}

		@Override
		public CompletableFuture<AcquireResult> whenComplete(
				BiConsumer<? super AcquireResult, ? super Throwable> action) {
			CompletableFuture<AcquireResult> stage = super.whenComplete(action);
			Runnable whenAwaited = this.whenAwaited;
			this.whenAwaited = () -> {
			};
			Executor otherThread = (task) -> new Thread(task).start();
			CompletableFuture.runAsync(whenAwaited, otherThread).join();
			return stage;
		}

	}

}
