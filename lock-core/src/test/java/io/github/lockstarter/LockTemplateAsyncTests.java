// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.FaultInjectingStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Bodies that return a future.
 */
class LockTemplateAsyncTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private final LockMemory memory = new LockMemory();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS,
			LockListener.NO_OP);

	private final DefaultLockRegistry other = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, LockListener.NO_OP);

	private final LockTemplate template = new LockTemplate(this.registry);

	private final CompletableFuture<String> body = new CompletableFuture<>();

	private final CountDownLatch begun = new CountDownLatch(1);

	@AfterEach
	void nothingIsLeft() {
		EngineProbe.closeWhenIdle(this.registry, this.other);
	}

	@Test
	void theLockIsHeldUntilTheFutureOfTheBodyIsDoneAndReleasedBeforeTheResult() throws Exception {
		CompletableFuture<String> result = execute(this.template);
		assertThat(isTaken()).isTrue();
		assertThat(result).isNotDone();
		CompletableFuture<Boolean> free = result.thenApply((value) -> !isTaken());
		this.body.complete("done");
		assertThat(free).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(true);
		assertThat(result).isCompletedWithValue("done");
	}

	@Test
	void theBodyBeginsWithItsLeaseOnAThreadThatMayBlock() {
		CompletableFuture<Boolean> result = this.template.executeAsync(REQUEST, (lease) -> {
			assertThat(Lease.current()).isSameAs(lease);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			return CompletableFuture.completedFuture(lease.isHeld());
		});
		assertThat(result).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(true);
	}

	@Test
	void aLeaseThatIsThereAtOnceDoesNotLetTheBodyBlockTheCaller() {
		LockRequest read = REQUEST.withMode(LockMode.READ);
		try (Lease reader = this.registry.acquire(read)) {
			CompletableFuture<Thread> thread = this.template.executeAsync(read,
					(lease) -> CompletableFuture.completedFuture(Thread.currentThread()));
			assertThat(thread.orTimeout(20, TimeUnit.SECONDS).join()).isNotSameAs(Thread.currentThread());
		}
	}

	@Test
	void aStageThatCannotBeCancelledIsFollowedToItsEnd() throws Exception {
		CompletableFuture<String> result = this.template.executeAsync(REQUEST, (lease) -> {
			this.begun.countDown();
			return this.body.minimalCompletionStage();
		});
		this.begun.await();
		result.cancel(true);
		assertThat(isTaken()).isTrue();
		this.body.complete("done");
		Awaitility.await().until(() -> !isTaken());
	}

	@Test
	void theThreadThatEndsTheBodyDoesNotWaitForTheStore() throws Exception {
		CountDownLatch ended = new CountDownLatch(1);
		this.store.release.loseRequests(() -> {
			awaitUninterrupted(ended);
			return false;
		});
		CompletableFuture<String> result = execute(this.template);
		// From then on, the thread that ends the body begins the release
		Awaitility.await().until(() -> this.body.getNumberOfDependents() > 0);
		this.body.complete("done");
		assertThat(result).isNotDone();
		ended.countDown();
		assertThat(result).succeedsWithin(Duration.ofSeconds(20));
	}

	@Test
	void aFailureOfTheBodyGivesTheLockBackAndReachesTheCallerAsItIs() throws Exception {
		CompletableFuture<String> result = execute(this.template);
		this.body.completeExceptionally(new IOException("out of order"));
		assertThat(failure(result)).isInstanceOf(IOException.class).hasMessage("out of order");
		assertThat(isTaken()).isFalse();
		CompletableFuture<String> thrown = this.template.executeAsync(REQUEST, (lease) -> {
			throw new IOException("at once");
		});
		assertThat(failure(thrown)).isInstanceOf(IOException.class).hasMessage("at once");
		assertThat(isTaken()).isFalse();
	}

	@Test
	void aFailureThatADependentFutureWrapsIsUnwrapped() throws Exception {
		CompletableFuture<String> result = this.template.executeAsync(REQUEST, (lease) -> this.body.thenApply((x) -> {
			throw new IllegalStateException("out of order");
		}));
		this.body.complete("done");
		assertThat(failure(result)).isInstanceOf(IllegalStateException.class);
	}

	@Test
	void theBodyDoesNotRunWithoutTheLock() {
		try (Lease held = this.other.acquire(REQUEST)) {
			assertThat(failure(this.template.executeAsync(AT_ONCE, this::unexpected)))
				.isInstanceOf(LockContendedException.class);
			assertThat(this.template.executeAsyncOrElse(AT_ONCE, this::unexpected,
					(contention) -> CompletableFuture.completedFuture("busy"), (outage) -> unexpected(null)))
				.succeedsWithin(Duration.ofSeconds(20))
				.isEqualTo("busy");
		}
		LockRequest brief = AT_ONCE.withLeaseTime(Duration.ofMillis(250));
		this.store.acquire.loseRequests(() -> true);
		assertThat(failure(this.template.executeAsync(brief, this::unexpected)))
			.isInstanceOf(LockUnavailableException.class);
		assertThat(this.template.executeAsyncOrElse(brief, this::unexpected, (contention) -> unexpected(null),
				(outage) -> CompletableFuture.completedFuture("down")))
			.succeedsWithin(Duration.ofSeconds(20))
			.isEqualTo("down");
	}

	@Test
	void cancellingTheResultEndsTheWait() {
		try (Lease held = this.registry.acquire(REQUEST)) {
			CompletableFuture<String> result = this.template.executeAsync(REQUEST, this::unexpected);
			result.cancel(true);
			Awaitility.await().until(() -> EngineProbe.backgroundActions(this.registry) == 1);
			assertThatExceptionOfType(CancellationException.class).isThrownBy(result::join);
		}
	}

	@Test
	void cancellingTheResultCancelsTheFutureOfTheBodyAndGivesTheLockBack() throws Exception {
		CompletableFuture<String> result = execute(this.template);
		result.cancel(true);
		Awaitility.await().until(this.body::isCancelled);
		Awaitility.await().until(() -> !isTaken());
	}

	@Test
	void aBodyDoesNotBeginAfterItsResultWasCancelled() {
		Deque<Runnable> tasks = new ArrayDeque<>();
		CompletableFuture<Lease> acquisition = new CompletableFuture<>() {
			@Override
			public Executor defaultExecutor() {
				return tasks::add;
			}
		};
		CompletableFuture<String> result = new AsyncExecution<Lease, String>((lease) -> {
			this.begun.countDown();
			return this.body;
		}, (contention) -> this.body, (outage) -> this.body)
			.after(new FutureOutcome<>(acquisition, BodyTerms.of(REQUEST, OnLost.THROW, TransactionFencing.DEFAULT)));
		acquisition.complete(this.registry.acquire(REQUEST));
		result.cancel(true);
		tasks.remove().run();
		assertThat(this.begun.getCount()).isOne();
		Awaitility.await().until(() -> !isTaken());
	}

	@Test
	void cancellingInAnyInstantLeavesNothingLocked() {
		for (int i = 0; i < 500; i++) {
			CompletableFuture<String> running = new CompletableFuture<>();
			CompletableFuture<String> result = this.template.executeAsync(REQUEST, (lease) -> running);
			for (int spins = 0; spins < i; spins++) {
				Thread.onSpinWait();
			}
			result.cancel(true);
			this.registry.acquire(REQUEST).close();
		}
	}

	@Test
	void aLossFailsTheResultWhenTheBodyIsDone() throws Exception {
		CompletableFuture<String> result = execute(this.template);
		this.memory.clear();
		this.body.complete("done");
		assertThat(failure(result)).isInstanceOf(LockLostException.class);
	}

	@Test
	void aLossIsSuppressedByAFailureOfTheBody() throws Exception {
		CompletableFuture<String> result = execute(this.template);
		this.memory.clear();
		this.body.completeExceptionally(new IllegalStateException("out of order"));
		assertThat(failure(result)).isInstanceOf(IllegalStateException.class)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasExactlyElementsOfTypes(LockLostException.class));
	}

	@Test
	void aLossIsToleratedIfThatIsThePolicy() throws Exception {
		CompletableFuture<String> result = execute(this.template.withOnLost(OnLost.LOG));
		this.memory.clear();
		this.body.complete("done");
		assertThat(result).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("done");
	}

	@Test
	void aLossCancelsTheFutureOfTheBodyIfThatIsThePolicy() throws Exception {
		LockTemplate interrupting = this.template.withOnLost(OnLost.INTERRUPT);
		CompletableFuture<String> result = interrupting.executeAsync(REQUEST.withLeaseTime(Duration.ofMillis(250)),
				(lease) -> this.body);
		assertThat(failure(result)).isInstanceOf(LockLostException.class)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasExactlyElementsOfTypes(CancellationException.class));
		assertThat(this.body).isCancelled();
	}

	@Test
	void aLossInterruptsABodyThatBlocksBeforeItReturns() {
		LockTemplate interrupting = this.template.withOnLost(OnLost.INTERRUPT);
		CompletableFuture<String> result = interrupting.executeAsync(REQUEST.withLeaseTime(Duration.ofMillis(250)),
				(lease) -> {
					new CountDownLatch(1).await();
					return this.body;
				});
		assertThat(failure(result)).isInstanceOf(LockLostException.class)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasExactlyElementsOfTypes(InterruptedException.class));
	}

	@ParameterizedTest
	@EnumSource(names = { "THROW", "LOG" })
	void aLockIsKeptForSomeTimeIfTheBodySucceeds(OnLost onLost) throws Exception {
		LockTemplate keeping = this.template.withOnLost(onLost);
		LockRequest request = REQUEST.withHoldAtLeast(Duration.ofHours(1));
		CompletableFuture<String> failed = keeping.executeAsync(request,
				(lease) -> CompletableFuture.failedFuture(new IOException("out of order")));
		assertThat(failure(failed)).isInstanceOf(IOException.class);
		assertThat(isTaken()).isFalse();
		CompletableFuture<String> succeeded = keeping.executeAsync(request,
				(lease) -> CompletableFuture.completedFuture("done"));
		assertThat(succeeded).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("done");
		assertThat(isTaken()).isTrue();
	}

	@Test
	void aBodyMayBeginOnTheCurrentThreadWithoutBelongingToIt() {
		CompletableFuture<String> result = begin(REQUEST, (lease) -> {
			assertThat(Lease.current()).isSameAs(lease);
			return this.body.thenApply((done) -> done + " on " + Thread.currentThread().getName());
		});
		assertThat(isTaken()).isTrue();
		assertThat(this.registry.tryAcquire(AT_ONCE)).isEmpty();
		assertThat(begin(AT_ONCE, this::unexpected)).isCompletedWithValue("busy");
		this.body.complete("begun");
		assertThat(result).succeedsWithin(Duration.ofSeconds(20))
			.isEqualTo("begun on " + Thread.currentThread().getName());
		assertThat(isTaken()).isFalse();
		CompletableFuture<String> cancelled = begin(REQUEST, (lease) -> new CompletableFuture<>());
		cancelled.cancel(true);
		Awaitility.await().until(() -> !isTaken());
		this.store.acquire.loseRequests(() -> true);
		assertThat(begin(AT_ONCE.withLeaseTime(Duration.ofMillis(250)), this::unexpected)).isCompletedWithValue("down");
	}

	@Test
	void noBodyBeginsAfterItsLeaseHasExpired() {
		LockRequest request = REQUEST.withLeaseTime(Duration.ofMillis(50));
		try (DefaultLockRegistry slow = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS, this::outlast)) {
			LockTemplate late = new LockTemplate(slow);
			for (int i = 0; i < 2; i++) {
				assertThat(failure(late.executeAsync(request, this::unexpected))).isInstanceOf(LockLostException.class);
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> late.execute(request, this::unexpected));
			}
			Awaitility.await().until(() -> EngineProbe.activeLocks(slow) == 0);
		}
	}

	private void outlast(LockEvent event) {
		if (event instanceof LockEvent.Acquired) {
			long end = System.nanoTime() + Duration.ofMillis(50).toNanos();
			while (System.nanoTime() - end < 0) {
				LockSupport.parkNanos(end - System.nanoTime());
			}
		}
	}

	@Test
	void anInterruptEndsTheWaitOfABodyThatIsToBeginOnTheCurrentThread() {
		Thread.currentThread().interrupt();
		assertThat(failure(begin(REQUEST, this::unexpected))).isInstanceOf(LockInterruptedException.class);
		assertThat(Thread.interrupted()).isTrue();
	}

	private CompletableFuture<String> begin(LockRequest request, LockedBody<Lease, CompletableFuture<String>, ?> body) {
		return this.template.beginOrElse(request, body, (contention) -> CompletableFuture.completedFuture("busy"),
				(outage) -> CompletableFuture.completedFuture("down"));
	}

	private CompletableFuture<String> execute(LockTemplate template) throws InterruptedException {
		CompletableFuture<String> result = template.executeAsync(REQUEST, (lease) -> {
			this.begun.countDown();
			return this.body;
		});
		assertThat(this.begun.await(20, TimeUnit.SECONDS)).isTrue();
		return result;
	}

	private static void awaitUninterrupted(CountDownLatch latch) {
		try {
			assertThat(latch.await(5, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private CompletableFuture<String> unexpected(Lease lease) {
		throw new AssertionError("It should not have run");
	}

	private boolean isTaken() {
		return this.other.tryAcquire(AT_ONCE).map((lease) -> {
			lease.close();
			return false;
		}).orElse(true);
	}

	private static Throwable failure(CompletableFuture<?> future) {
		try {
			return new AssertionError("It succeeded with " + future.orTimeout(20, TimeUnit.SECONDS).join());
		}
		catch (CompletionException ex) {
			return ex.getCause();
		}
	}

}
