// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The contract of instances of an application that share a {@link LockStore}: what a
 * {@link LockRegistry} promises its callers and needs the store for, with real threads.
 */
public abstract class AbstractLockRegistryTests extends RegistryHarness {

	/** Outlasts a machine that stands still twice in a row. */
	private static final Duration RENEWED_LEASE_TIME = Duration.ofSeconds(3);

	private static final int THREADS = 4;

	private static final int HOLDS = 15;

	/** Guarded by the lock only. */
	private int counter;

	/** Guarded by the lock only; equal to the counter while no writer is at work. */
	private int copy;

	/** Guarded by the lock only. */
	private final List<Long> tokens = new ArrayList<>();

	@Test
	void noUpdateIsLost() throws Exception {
		compete(this.request);
	}

	@Test
	void noUpdateIsLostInFairMode() throws Exception {
		assumeMode(LockMode.FAIR);
		compete(this.request.withMode(LockMode.FAIR));
	}

	@Test
	void noUpdateIsLostByWritersAndNoneIsSeenHalf() throws Exception {
		assumeMode(LockMode.READ);
		LockRequest read = this.request.withMode(LockMode.READ);
		LockRequest write = this.request.withMode(LockMode.WRITE);
		inAllThreads((instance, hold) -> {
			if (hold % 3 == 0) {
				try (Lease lease = instance.acquire(write)) {
					update(lease);
				}
			}
			else {
				try (Lease lease = instance.acquire(read)) {
					int seen = this.counter;
					Thread.yield();
					SafetyViolation.check(this.copy == seen, "A reader sees half of an update of '%s'", lease.key());
				}
			}
		});
		assertUpdates(2 * THREADS * HOLDS / 3);
	}

	@Test
	void readersShareTheLockAndAWriterWaitsForAll() throws Exception {
		assumeMode(LockMode.READ);
		LockRequest read = this.request.withMode(LockMode.READ);
		LockRequest write = this.request.withMode(LockMode.WRITE);
		Instance three = startInstance();
		Lease here = this.one.acquire(read);
		Lease there = this.two.acquire(read);
		Call<Long> writer = three.startWaiter(write);
		here.close();
		three.assertRefused(write);
		there.ensureHeld();
		there.close();
		long token = writer.get();
		assertLater(token, here);
		assertLater(token, there);
		try (Lease writing = this.one.acquire(write)) {
			this.two.assertRefused(read);
			this.two.assertRefused(this.request);
		}
	}

	@Test
	void fairCallersAreServedInTheOrderOfTheirArrivalWhicheverInstanceTheyAreIn() throws Exception {
		assumeMode(LockMode.FAIR);
		LockRequest fair = this.request.withMode(LockMode.FAIR);
		Lease held = this.one.acquire(fair);
		List<Call<Long>> callers = new ArrayList<>();
		for (Instance instance : List.of(this.two, this.one, this.one, this.two, this.two, this.one)) {
			callers.add(instance.startWaiter(fair));
		}
		held.close();
		List<Long> inOrderOfArrival = new ArrayList<>(List.of(held.fencingToken()));
		for (Call<Long> caller : callers) {
			inOrderOfArrival.add(caller.get());
		}
		assertThat(inOrderOfArrival).isSorted().doesNotHaveDuplicates();
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
			assertLater(waiter.get(), held);
		}
	}

	@Test
	void aFutureIsCompletedByTheReleaseInAnotherInstance() throws Exception {
		Lease held = this.one.acquire(this.request);
		CompletableFuture<Lease> future = this.two.startFuture(this.request);
		assertThat(future).isNotDone();
		held.close();
		try (Lease lease = future.get(20, TimeUnit.SECONDS)) {
			assertLater(lease.fencingToken(), held);
			this.one.assertRefused(this.request);
		}
		this.one.acquire(this.request).close();
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
		assertLater(second.get(), held);
	}

	@Test
	void aCancelledFutureLeavesNothing() {
		Lease held = this.one.acquire(this.request);
		CompletableFuture<Lease> future = this.two.startFuture(this.request);
		future.cancel(true);
		assertNobodyWaitsFor(held);
	}

	@Test
	void aWaiterOfARegistryThatClosesLeavesNothing() {
		Instance closing = startInstance();
		Lease held = this.one.acquire(this.request);
		Call<Long> waiter = closing.startWaiter(this.request);
		closing.registry().close();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(waiter::get);
		assertNobodyWaitsFor(held);
	}

	@Test
	@Tag("clock")
	protected void aLeaseIsRenewedWhileItIsHeld() throws Exception {
		Instance renewing = startInstance(RENEWED_LEASE_TIME);
		try (Lease held = renewing.acquire(this.request)) {
			long start = System.nanoTime();
			await().until(() -> System.nanoTime() - start > RENEWED_LEASE_TIME.toNanos());
			held.ensureHeld();
			this.two.assertRefused(this.request, held);
		}
		this.two.acquire(this.request).close();
	}

	@Test
	void aLockThatIsHeldAtLeastExcludesAllAfterItsRelease() throws Exception {
		assumeTrue(this.one.store().keeping().isPresent(), "The store keeps no locks");
		Lease kept = this.one.acquire(this.request);
		kept.holdAtLeast(LEASE_TIME);
		kept.close();
		this.one.assertRefused(this.request);
		this.two.assertRefused(this.request);
	}

	@Test
	void allLocksOfASetAreAcquiredOrNone() {
		LockRequest before = unusedLock();
		LockRequest after = unusedLock();
		List<LockRequest> all = List.of(after, this.request, before);
		Lease held = this.two.acquire(this.request);
		assertThat(this.one.registry()
			.tryAcquireAll(all.stream().map((each) -> each.withWaitTime(Duration.ZERO)).toList())).isEmpty();
		this.two.acquire(before).close();
		this.two.acquire(after).close();
		held.close();
		try (LeaseSet leases = this.one.registry().acquireAll(all)) {
			assertThat(leases.all()).hasSize(3).allSatisfy(Lease::ensureHeld);
		}
		for (LockRequest each : List.of(before, this.request, after)) {
			this.two.acquire(each).close();
		}
	}

	@Test
	void setsInOppositeOrdersNeitherDeadlockNorOverlap() throws Exception {
		LockRequest common = unusedLock();
		List<LockRequest> forwards = List.of(this.request, unusedLock(), common);
		List<LockRequest> backwards = List.of(common, this.request);
		inAllThreads((instance, hold) -> {
			try (LeaseSet leases = instance.registry().acquireAll((hold % 2 == 0) ? forwards : backwards)) {
				update(leases.all()
					.stream()
					.filter((lease) -> lease.key().equals(common.key()))
					.findAny()
					.orElseThrow());
			}
		});
		assertUpdates(2 * THREADS * HOLDS);
	}

	private void compete(LockRequest request) throws Exception {
		inAllThreads((instance, hold) -> {
			try (Lease lease = instance.acquire(request)) {
				update(lease);
			}
		});
		assertUpdates(2 * THREADS * HOLDS);
	}

	/**
	 * Read and write in two steps, between which another owner would lose an update.
	 */
	private void update(Lease lease) {
		int seen = this.counter;
		this.tokens.add(lease.fencingToken());
		Thread.yield();
		this.counter = seen + 1;
		Thread.yield();
		this.copy = seen + 1;
	}

	private void assertUpdates(int expected) {
		SafetyViolation.check(this.counter == expected && this.copy == expected && this.tokens.size() == expected,
				"Of %d updates, %d are lost", expected, expected - this.counter);
		for (int i = 1; i < expected; i++) {
			SafetyViolation.check(this.tokens.get(i) > this.tokens.get(i - 1), "A later token is not larger: %s",
					this.tokens);
		}
	}

	private static void assertLater(long token, Lease before) {
		SafetyViolation.check(token > before.fencingToken(), "The later token %d is not larger than %d", token,
				before.fencingToken());
	}

	/**
	 * Let many threads of two instances do the same many times.
	 */
	private void inAllThreads(Body body) throws Exception {
		CountDownLatch start = new CountDownLatch(2 * THREADS);
		List<Call<Integer>> calls = new ArrayList<>();
		for (int thread = 0; thread < 2 * THREADS; thread++) {
			Instance instance = (thread % 2 == 0) ? this.one : this.two;
			int first = thread / 2;
			calls.add(Callers.start(() -> {
				start.countDown();
				start.await();
				for (int i = 0; i < HOLDS; i++) {
					body.run(instance, first + i);
				}
				return HOLDS;
			}));
		}
		for (Call<Integer> call : calls) {
			call.get();
		}
	}

	/**
	 * What a thread does with an instance.
	 */
	@FunctionalInterface
	private interface Body {

		void run(Instance instance, int hold) throws Exception;

	}

}
