// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The part of the contract of instances that is about waiters.
 */
abstract class AbstractRegistryWaitTests extends RegistryHarness {

	private static final Duration SHORT_WAIT_TIME = Duration.ofMillis(50);

	private static final int ROUNDS = 5;

	@Test
	void aReleaseEndsTheWaitOfAnotherInstance() throws Exception {
		Lease held = this.one.acquire(this.request);
		Call<Long> waiter = this.two.startWaiter(this.request);
		held.close();
		assertThat(waiter.get()).isGreaterThan(held.fencingToken());
	}

	@Test
	void eachOfSeveralInstancesGetsItsTurn() throws Exception {
		Lease held = this.one.acquire(this.request);
		List<Call<Long>> waiters = new ArrayList<>();
		for (Instance instance : List.of(this.two, startInstance(), startInstance())) {
			waiters.add(instance.startWaiter(this.request));
		}
		held.close();
		for (Call<Long> waiter : waiters) {
			assertThat(waiter.get()).isGreaterThan(held.fencingToken());
		}
	}

	@Test
	void waitersOfOneInstanceGetTheLockInTheOrderOfTheirArrivalWithoutTheStore() throws Exception {
		Lease held = this.one.acquire(this.request);
		int granted = this.one.store().grants();
		List<Call<Long>> waiters = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			waiters.add(this.one.start(this.request).awaitParked());
		}
		held.close();
		List<Long> tokens = new ArrayList<>(List.of(held.fencingToken()));
		for (Call<Long> waiter : waiters) {
			tokens.add(waiter.get());
		}
		assertThat(tokens).isSorted().doesNotHaveDuplicates();
		if (this.one.hasWaitingLine()) {
			assertThat(this.one.store().grants()).isEqualTo(granted);
		}
	}

	@Test
	void anInstanceThatPassesTheLockOnLetsAnotherOneIn() throws Exception {
		assumeWaitingLine();
		CountDownLatch busyOnes = new CountDownLatch(3);
		CountDownLatch over = new CountDownLatch(1);
		List<Call<Boolean>> busy = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			busy.add(Callers.start(() -> {
				while (over.getCount() > 0) {
					this.one.acquire(this.request).close();
					busyOnes.countDown();
				}
				return true;
			}));
		}
		await().until(() -> busyOnes.getCount() == 0);
		try {
			for (int i = 0; i < ROUNDS; i++) {
				this.two.start(this.request).get();
			}
		}
		finally {
			over.countDown();
		}
		for (Call<Boolean> call : busy) {
			call.get();
		}
	}

	@Test
	void aWaitEndsInTimeAndLeavesNothing() {
		Lease held = this.one.acquire(this.request);
		LockRequest impatient = this.request.withWaitTime(SHORT_WAIT_TIME);
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.two.acquire(impatient))
			.satisfies((ex) -> assertThat(ex.getWaited()).isGreaterThanOrEqualTo(SHORT_WAIT_TIME));
		assertThat(this.two.registry().tryAcquire(impatient)).isEmpty();
		assertThat(this.two.acquireAsync(impatient)).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(LockContendedException.class);
		assertNobodyWaitsFor(held);
	}

	@Test
	void anInterruptEndsAWaitKeepsTheFlagAndLeavesNothing() throws Exception {
		Lease held = this.one.acquire(this.request);
		int before = this.two.store().arrived();
		Call<Boolean> waiter = Callers.start(() -> {
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> this.two.acquire(this.request));
			return Thread.currentThread().isInterrupted();
		});
		await().until(() -> this.two.store().arrived() > before);
		waiter.thread().interrupt();
		assertThat(waiter.get()).isTrue();
		assertNobodyWaitsFor(held);
	}

	@Test
	void anInterruptedWaiterLeavesItsTurnToTheNextOfItsInstance() throws Exception {
		Lease held = this.one.acquire(this.request);
		Call<Long> first = this.two.startWaiter(this.request);
		Call<Long> second = this.two.start(this.request).awaitParked();
		first.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(first::get);
		held.close();
		assertThat(second.get()).isGreaterThan(held.fencingToken());
	}

	@Test
	void aFutureIsCompletedByTheReleaseInAnotherInstance() throws Exception {
		Lease held = this.one.acquire(this.request);
		CompletableFuture<Lease> future = this.two.startFuture(this.request);
		assertThat(future).isNotDone();
		held.close();
		try (Lease lease = future.get(20, TimeUnit.SECONDS)) {
			assertThat(lease.fencingToken()).isGreaterThan(held.fencingToken());
			this.one.assertRefused(this.request);
		}
		this.one.acquire(this.request).close();
	}

	@Test
	void aCancelledFutureLeavesNothing() {
		Lease held = this.one.acquire(this.request);
		CompletableFuture<Lease> future = this.two.startFuture(this.request);
		future.cancel(true);
		assertNobodyWaitsFor(held);
	}

	@Test
	void aFutureThatIsCancelledAtItsGrantHoldsNothing() {
		for (int i = 0; i < ROUNDS; i++) {
			Lease held = this.one.acquire(this.request);
			CompletableFuture<Lease> future = this.two.startFuture(this.request);
			int before = this.two.store().grants();
			held.close();
			while (this.two.store().grants() == before && !future.isDone()) {
				Thread.onSpinWait();
			}
			if (!future.cancel(true)) {
				future.join().close();
			}
		}
		this.one.acquire(this.request).close();
	}

}
