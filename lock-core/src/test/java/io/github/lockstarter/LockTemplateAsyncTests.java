// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.test.Callers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Bodies that return a future.
 */
class LockTemplateAsyncTests extends AbstractBodyTests {

	private final CompletableFuture<String> body = new CompletableFuture<>();

	private final CountDownLatch begun = new CountDownLatch(1);

	@Override
	String run(LockTemplate template, LockRequest request, LockedBody<LeaseSet, String, Throwable> body,
			LockFailureHandler<String, Throwable> otherwise) throws Throwable {
		return join(template.<String>executeAsyncOrElse(request,
				(lease) -> CompletableFuture.completedFuture(body.run(lease)),
				(failure) -> CompletableFuture.completedFuture(otherwise.handle(failure))));
	}

	@Test
	void theLockIsHeldUntilTheFutureOfTheBodyIsDoneAndReleasedBeforeTheResult() throws Exception {
		CompletableFuture<String> result = execute(this.template, REQUEST);
		assertThat(isTaken(REQUEST)).isTrue();
		assertThat(result).isNotDone();
		CompletableFuture<Boolean> free = result.thenApply((value) -> !isTaken(REQUEST));
		this.body.complete("done");
		assertThat(free).succeedsWithin(PATIENCE).isEqualTo(true);
		assertThat(result).isCompletedWithValue("done");
	}

	@Test
	void theBodyBeginsWithItsLeaseOnAThreadThatMayBlock() {
		CompletableFuture<Boolean> result = this.template.executeAsync(REQUEST, (lease) -> {
			assertThat(Lease.current()).isSameAs(lease);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			return CompletableFuture.completedFuture(lease.isHeld());
		});
		assertThat(result).succeedsWithin(PATIENCE).isEqualTo(true);
	}

	@Test
	void actionsOnTheResultMayBlockOnThreadsOfTheLibrary() {
		CompletableFuture<Thread> body = new CompletableFuture<>();
		CompletableFuture<Boolean> same = this.template.executeAsync(REQUEST, (lease) -> {
			body.complete(Thread.currentThread());
			return body;
		})
			.thenApplyAsync((thread) -> Thread.currentThread().getClass() == thread.getClass()
					&& Thread.currentThread().getName().startsWith("lock-"));
		assertThat(same).succeedsWithin(PATIENCE).isEqualTo(true);
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
		assertThat(isTaken(REQUEST)).isTrue();
		this.body.complete("done");
		this.time.settle();
		assertThat(isTaken(REQUEST)).isFalse();
	}

	@Test
	void aFutureOfAnUnfinishedFutureFailsItsResult() {
		CompletableFuture<CompletableFuture<String>> result = this.template.executeAsync(REQUEST,
				(lease) -> CompletableFuture.completedFuture(this.body));
		assertThat(result).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingRootCause()
			.isInstanceOf(IllegalStateException.class)
			.withMessageContaining("has returned a " + CompletableFuture.class.getName());
		assertThat(isTaken(REQUEST)).isFalse();
	}

	@Test
	void theThreadThatEndsTheBodyDoesNotWaitForTheStore() throws Exception {
		CountDownLatch ended = new CountDownLatch(1);
		this.store.release.loseRequests(() -> {
			Callers.await(ended);
			return false;
		});
		CompletableFuture<String> result = execute(this.template, REQUEST);
		// From then on, the thread that ends the body begins the release
		this.time.settle();
		this.body.complete("done");
		assertThat(result).isNotDone();
		ended.countDown();
		assertThat(result).succeedsWithin(PATIENCE);
	}

	@Test
	void aFailureOfTheFutureGivesTheLockBackAndReachesTheCallerAsItIs() throws Exception {
		CompletableFuture<String> result = execute(this.template, REQUEST);
		this.body.completeExceptionally(new IOException("out of order"));
		assertThat(failure(result)).isInstanceOf(IOException.class).hasMessage("out of order");
		assertThat(isTaken(REQUEST)).isFalse();
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
	void withoutAHandlerItsReasonIsTheFailure() {
		loseRequests(true);
		assertThat(failure(this.template.executeAsync(AT_ONCE, (lease) -> unexpected(null))))
			.isInstanceOf(LockUnavailableException.class);
		loseRequests(false);
		this.instances.holdElsewhere(KEY, LEASE_TIME);
		assertThat(failure(this.template.executeAsync(AT_ONCE, (lease) -> unexpected(null))))
			.isInstanceOf(LockContendedException.class);
	}

	@Test
	void cancellingTheResultEndsTheWait() {
		try (Lease held = this.registry.acquire(REQUEST)) {
			CompletableFuture<String> result = this.template.executeAsync(REQUEST, (lease) -> unexpected(null));
			result.cancel(true);
			this.time.settle();
			assertThat(EngineProbe.backgroundActions(this.registry)).as("the renewal of the lease").isOne();
			assertThatExceptionOfType(CancellationException.class).isThrownBy(result::join);
		}
	}

	@Test
	void cancellingTheResultCancelsTheFutureOfTheBodyAndGivesTheLockBack() throws Exception {
		CompletableFuture<String> result = execute(this.template, REQUEST);
		result.cancel(true);
		this.time.settle();
		assertThat(this.body).isCancelled();
		assertThat(isTaken(REQUEST)).isFalse();
	}

	@Test
	void aBodyDoesNotBeginAfterItsResultWasCancelled() {
		Deque<Runnable> tasks = new ArrayDeque<>();
		CompletableFuture<String> result = LockedExecution.runAsync(acquisition(tasks),
				new LockedExecution.Terms(this.registry, OnLost.THROW, Map.of()), this::begin,
				AbstractBodyTests::unexpected);
		result.cancel(true);
		tasks.remove().run();
		this.time.settle();
		assertThat(this.begun.getCount()).isOne();
		assertThat(isTaken(REQUEST)).isFalse();
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
		CompletableFuture<String> result = execute(this.template, REQUEST);
		this.memory.clear();
		this.body.complete("done");
		assertThat(failure(result)).isInstanceOf(LockLostException.class);
	}

	@Test
	void aLossCancelsTheFutureOfTheBodyIfThatIsThePolicy() throws Exception {
		CompletableFuture<String> result = execute(this.template.withOnLost(OnLost.INTERRUPT), FIXED);
		this.time.advance(LEASE_TIME);
		assertThat(failure(result)).isInstanceOf(LockLostException.class)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasExactlyElementsOfTypes(CancellationException.class));
		assertThat(this.body).isCancelled();
	}

	@Test
	void byDefaultALossDoesNotCancelTheFutureOfTheBody() throws Exception {
		CompletableFuture<String> result = execute(this.template, FIXED);
		this.time.advance(LEASE_TIME);
		assertThat(this.body).isNotDone();
		IllegalStateException failure = new IllegalStateException("of the body");
		this.body.completeExceptionally(failure);
		assertThat(failure(result)).isSameAs(failure);
		assertThat(failure.getSuppressed()).hasExactlyElementsOfTypes(LockLostException.class);
	}

	@Test
	void noBodyBeginsUnderALockThatWasLostBefore() {
		Deque<Runnable> tasks = new ArrayDeque<>();
		CompletableFuture<String> result = LockedExecution.runAsync(acquisition(tasks),
				new LockedExecution.Terms(this.registry, OnLost.THROW, Map.of()), this::begin,
				AbstractBodyTests::unexpected);
		this.time.advance(LEASE_TIME);
		tasks.remove().run();
		assertThat(failure(result)).isInstanceOf(LockLostException.class);
		assertThat(this.begun.getCount()).isOne();
	}

	@Test
	void aLossInterruptsABodyThatBlocksBeforeItReturns() {
		CompletableFuture<String> result = this.template.withOnLost(OnLost.INTERRUPT)
			.executeAsyncOrElse(FIXED, (lease) -> blockAfterLoss(), AbstractBodyTests::unexpected);
		assertThat(failure(result)).isInstanceOf(LockLostException.class)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasExactlyElementsOfTypes(InterruptedException.class));
	}

	private CompletableFuture<String> execute(LockTemplate template, LockRequest request) throws InterruptedException {
		CompletableFuture<String> result = template.executeAsync(request, this::begin);
		assertThat(this.begun.await(20, TimeUnit.SECONDS)).isTrue();
		return result;
	}

	private CompletableFuture<String> begin(Lease lease) {
		this.begun.countDown();
		return this.body;
	}

	/** A lock that is acquired, and whose dependent actions wait until they are run. */
	private CompletableFuture<Lease> acquisition(Deque<Runnable> tasks) {
		CompletableFuture<Lease> acquisition = new CompletableFuture<>() {
			@Override
			public Executor defaultExecutor() {
				return tasks::add;
			}
		};
		acquisition.complete(this.registry.acquire(FIXED));
		return acquisition;
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
