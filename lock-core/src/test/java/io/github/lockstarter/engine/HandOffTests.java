// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.DelegatingStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The release of a lock that has waiters in the same JVM.
 */
class HandOffTests extends AbstractInstancesTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	/** Twenty renewals, one each second. */
	private static final Duration RENEWED_LEASE_TIME = Duration.ofSeconds(20);

	private static final Duration RENEWAL = Duration.ofSeconds(1);

	private final DefaultLockRegistry registry = registry(this.store, Duration.ofSeconds(30), Duration.ofMinutes(1));

	@Test
	void theStoreIsAskedOnceHoweverManyHoldTheLockInTurn() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		List<Call<Long>> waiters = waiters(8);
		lease.close();
		for (Call<Long> waiter : waiters) {
			waiter.get();
		}
		awaitNothingLeft();
		assertThat(this.store.acquire.calls()).isEqualTo(1);
		assertThat(this.store.release.calls()).isEqualTo(1);
	}

	@Test
	void eachHoldHasItsOwnLargerFencingToken() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		List<Call<Long>> waiters = waiters(8);
		long last = lease.fencingToken();
		lease.close();
		for (Call<Long> waiter : waiters) {
			assertThat(waiter.get()).isGreaterThan(last);
			last = waiter.get();
		}
		try (Lease next = this.registry.acquire(REQUEST)) {
			assertThat(next.fencingToken()).isGreaterThan(last);
		}
	}

	@Test
	void tokensGrowBeyondTheHoldsThatAnOwnershipCanNumber() throws Exception {
		List<Long> tokens = new ArrayList<>();
		List<Call<Boolean>> loops = new ArrayList<>();
		Lease lease = this.registry.acquire(REQUEST);
		for (int i = 0; i < 2; i++) {
			loops.add(Callers.start(() -> {
				for (int j = 0; j < 3000; j++) {
					try (Lease held = this.registry.acquire(REQUEST)) {
						tokens.add(held.fencingToken());
					}
				}
				return true;
			}).awaitParked());
		}
		lease.close();
		for (Call<Boolean> loop : loops) {
			loop.get();
		}
		assertThat(tokens).hasSize(6000).isSorted().doesNotHaveDuplicates();
		assertThat(this.store.acquire.calls()).isGreaterThan(1);
	}

	@Test
	void closingALeaseTwiceDoesNotEndTheHoldAfterIt() throws Exception {
		Lease first = this.registry.acquire(REQUEST);
		CountDownLatch end = new CountDownLatch(1);
		Call<Boolean> second = Callers.start(() -> {
			try (Lease held = this.registry.acquire(REQUEST)) {
				end.await();
				return held.isHeld();
			}
		}).awaitParked();
		first.close();
		first.close();
		assertThat(this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ZERO))).isEmpty();
		end.countDown();
		assertThat(second.get()).isTrue();
	}

	@Test
	void aLeaseThatIsNotCertainToLastIsNotHandedOff() throws Exception {
		DefaultLockRegistry renewing = registry(this.store, RENEWED_LEASE_TIME, 20, Duration.ofMinutes(1));
		try {
			Lease lease = renewing.acquire(REQUEST);
			Call<Long> waiter = waiter(renewing);
			this.store.renew.loseRequests(() -> true);
			this.time.advance(RENEWAL);
			assertThat(this.events).hasAtLeastOneElementOfType(LockEvent.Suspect.class);
			lease.close();
			waiter.get();
			assertThat(this.store.acquire.calls()).isEqualTo(2);
		}
		finally {
			renewing.close();
		}
	}

	@Test
	void everyChainOfHandOffsEndsWithItsSliceThoughNobodyElseWaits() throws Exception {
		Duration slice = Duration.ofSeconds(1);
		try (DefaultLockRegistry sliced = registry(this.store, Duration.ofSeconds(30), slice)) {
			Lease lease = sliced.acquire(REQUEST);
			Call<Long> inTime = waiter(sliced);
			this.time.advance(slice.minusNanos(1));
			lease.close();
			inTime.get();
			assertThat(this.store.acquire.calls()).isEqualTo(1);
			Lease last = sliced.acquire(REQUEST);
			Call<Long> late = waiter(sliced);
			this.time.advance(slice);
			last.close();
			assertThat(late.get()).isGreaterThan(last.fencingToken());
			assertThat(this.store.acquire.calls()).isEqualTo(3);
		}
	}

	/** The message of a release comes after the next request of the one that releases. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void instancesThatAlwaysWaitTakeTurnsAfterEachSlice(boolean blocking) {
		Duration slice = Duration.ofSeconds(1);
		List<Runnable> messages = new CopyOnWriteArrayList<>();
		List<DefaultLockRegistry> instances = List.of(
				registry(new LateMessages(this.store, blocking, messages), Duration.ofSeconds(30), slice),
				registry(new LateMessages(this.instances.store(), blocking, messages), Duration.ofSeconds(30), slice));
		Map<CompletableFuture<Lease>, Integer> requests = new LinkedHashMap<>();
		IntStream.of(0, 0, 1, 1).forEach((instance) -> request(instances, instance, requests));
		List<Integer> holders = new ArrayList<>();
		for (int i = 0; i < 12; i++) {
			CompletableFuture<Lease> held = requests.keySet()
				.stream()
				.filter(CompletableFuture::isDone)
				.findFirst()
				.orElseThrow();
			int holder = Objects.requireNonNull(requests.remove(held));
			holders.add(holder);
			request(instances, holder, requests);
			this.time.advance(slice.dividedBy(2));
			held.join().close();
			this.time.settle();
			messages.forEach(Runnable::run);
			messages.clear();
			this.time.settle();
		}
		assertThat(holders).containsExactly(0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1);
	}

	private void request(List<DefaultLockRegistry> instances, int instance,
			Map<CompletableFuture<Lease>, Integer> requests) {
		requests.put(instances.get(instance).acquireAsync(REQUEST), instance);
		this.time.settle();
	}

	@Test
	void theStoreIsAskedAgainBeforeItHasAnsweredTheRelease() {
		CompletableFuture<Boolean> answered = new CompletableFuture<>();
		DirectStore slow = new DirectStore(this.store) {

			@Override
			public CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
				return super.release(key, owner).thenCombine(answered, (released, now) -> released);
			}

		};
		DefaultLockRegistry instance = registry(slow, Duration.ofSeconds(30), Duration.ofMinutes(1));
		Lease lease = instance.acquire(REQUEST);
		CompletableFuture<Lease> next = instance.acquireAsync(REQUEST.withLeaseTime(Duration.ofSeconds(10)));
		lease.close();
		this.time.settle();
		assertThat(next).isDone();
		answered.complete(true);
		next.join().close();
	}

	@Test
	void aLockThatWasFreedDuringALongHoldIsNotHandedOff() throws Exception {
		try (DefaultLockRegistry freed = registry(this.store, Duration.ofSeconds(30), Duration.ofSeconds(1));
				DefaultLockRegistry other = registry(this.instances.store(), Duration.ofSeconds(30),
						Duration.ofSeconds(1))) {
			Lease lease = freed.acquire(REQUEST);
			Call<Long> waiter = waiter(freed);
			this.time.advance(Duration.ofSeconds(1));
			LockInspection inspection = this.store.inspection().orElseThrow();
			assertThat(inspection.free(KEY, lease.fencingToken()).toCompletableFuture().get()).isTrue();
			Lease next = other.acquire(REQUEST);
			try {
				lease.close();
			}
			catch (LockLostException ex) {
				// The store may answer before the lease is closed
			}
			Awaitility.await().until(() -> lost(KEY) == 1);
			assertThat(waiter.result()).isNotDone();
			next.close();
			assertThat(waiter.get()).isGreaterThan(next.fencingToken());
		}
	}

	@Test
	void aFairWaiterGetsALockThatWasFreedFromItsOwnInstanceAtOnce() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Long> waiter = Callers.start(() -> {
			try (Lease held = this.registry.acquire(REQUEST.withMode(LockMode.FAIR))) {
				return held.fencingToken();
			}
		}).awaitParked();
		this.time.settle();
		LockInspection inspection = this.store.inspection().orElseThrow();
		assertThat(inspection.free(KEY, lease.fencingToken()).toCompletableFuture().get()).isTrue();
		// Renewals that are due soon after one another are sent together
		this.time.advance(Duration.ofMillis(100));
		assertThat(lease.isHeld()).isFalse();
		assertThat(waiter.get()).isGreaterThan(lease.fencingToken());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
	}

	@Test
	void aFixedLeaseTimeEndsByItselfAndTheNextHoldBeginsThoughTheBodyStillRuns() throws Exception {
		Lease lease = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(1)));
		Overstaying overstaying = new Overstaying(this.registry);
		Call<Long> next = waiter(this.registry);
		lease.close();
		overstaying.holding.await();
		this.time.advance(Duration.ofSeconds(1).minusNanos(1));
		assertThat(next.result()).isNotDone();
		this.time.advance(Duration.ofNanos(1));
		assertThat(next.get()).isGreaterThan(lease.fencingToken());
		assertThat(this.store.acquire.calls()).isEqualTo(2);
		overstaying.end.countDown();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(overstaying.call::get)
			.withMessageContaining("its lease time of 1000 ms expired");
		awaitNothingLeft();
		assertThat(this.events).filteredOn(LockEvent.Lost.class::isInstance).hasSize(1);
	}

	@Test
	void aLossIsReportedOnceThoughTheStoreHasForgottenTheOwnerAtTheRelease() throws Exception {
		this.store.release.loseRequests(() -> {
			this.memory.clear();
			return false;
		});
		Lease lease = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(1)));
		Overstaying overstaying = new Overstaying(this.registry);
		lease.close();
		overstaying.holding.await();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.store.release.calls()).isEqualTo(1);
		overstaying.end.countDown();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(overstaying.call::get)
			.withMessageContaining("its lease time of 1000 ms expired");
		awaitNothingLeft();
		assertThat(lost(KEY)).isEqualTo(1);
	}

	/** Keeps the messages of a release until the test delivers them. */
	private static final class LateMessages extends DelegatingStore {

		private final boolean blocking;

		private final List<Runnable> messages;

		LateMessages(LockStore delegate, boolean blocking, List<Runnable> messages) {
			super(delegate);
			this.blocking = blocking;
			this.messages = messages;
		}

		@Override
		public boolean mayBlock() {
			return this.blocking;
		}

		@Override
		protected boolean listen(WaitingLine.Listener listener) {
			return super.listen(new WaitingLine.Listener() {

				@Override
				public void onRelease(LockKey key) {
					LateMessages.this.messages.add(() -> listener.onRelease(key));
				}

				@Override
				public void onDoubt() {
					listener.onDoubt();
				}

			});
		}

	}

	/** A caller that holds the lock beyond its lease time of a second. */
	private static final class Overstaying {

		private final CountDownLatch holding = new CountDownLatch(1);

		private final CountDownLatch end = new CountDownLatch(1);

		private final Call<Boolean> call;

		Overstaying(DefaultLockRegistry registry) {
			this.call = Callers.start(() -> {
				try (Lease held = registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(1)))) {
					this.holding.countDown();
					this.end.await();
				}
				return true;
			}).awaitParked();
		}

	}

	private long lost(LockKey key) {
		return this.events.stream()
			.filter((event) -> event instanceof LockEvent.Lost lost && lost.key().equals(key))
			.count();
	}

	@Test
	void aFixedLeaseThatIsClosedInTimeLeavesNoTimer() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Boolean> fixed = Callers.start(() -> {
			try (Lease held = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofMinutes(5)))) {
				return held.remaining().compareTo(Duration.ofMinutes(5)) <= 0;
			}
		}).awaitParked();
		lease.close();
		assertThat(fixed.get()).isTrue();
		awaitNothingLeft();
	}

	@Test
	void aRenewedHoldAfterAFixedOneIsRenewed() throws Exception {
		try (DefaultLockRegistry renewing = registry(this.store, RENEWED_LEASE_TIME, 20, Duration.ofMinutes(1))) {
			Lease lease = renewing.acquire(REQUEST.withLeaseTime(RENEWED_LEASE_TIME));
			CountDownLatch end = new CountDownLatch(1);
			Call<Boolean> renewed = Callers.start(() -> {
				try (Lease held = renewing.acquire(REQUEST)) {
					end.await();
					return held.isHeld();
				}
			}).awaitParked();
			lease.close();
			this.time.advance(RENEWED_LEASE_TIME.multipliedBy(2));
			assertThat(this.store.renew.calls()).isGreaterThanOrEqualTo(39);
			end.countDown();
			assertThat(renewed.get()).isTrue();
			assertThat(this.store.acquire.calls()).isEqualTo(1);
		}
	}

	@Test
	void afterALossTheNextCallerAsksTheStoreThoughTheBodyStillRuns() throws Exception {
		try (DefaultLockRegistry renewing = registry(this.store, Duration.ofSeconds(30), Duration.ofMinutes(1))) {
			Lease lease = renewing.acquire(REQUEST);
			Call<Long> next = waiter(renewing);
			this.memory.clear();
			this.time.advance(Duration.ofSeconds(10));
			assertThat(next.get()).isGreaterThan(lease.fencingToken());
			assertThat(lease.isHeld()).isFalse();
			try (Lease anew = renewing.acquire(REQUEST)) {
				assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
				assertThat(anew.isHeld()).isTrue();
			}
			this.time.settle();
			assertThat(renewing.activeLocks()).isZero();
		}
	}

	private List<Call<Long>> waiters(int count) throws InterruptedException {
		List<Call<Long>> waiters = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			waiters.add(waiter(this.registry));
		}
		return waiters;
	}

	private static Call<Long> waiter(DefaultLockRegistry registry) throws InterruptedException {
		return Callers.start(() -> {
			try (Lease lease = registry.acquire(REQUEST)) {
				return lease.fencingToken();
			}
		}).awaitParked();
	}

	private void awaitNothingLeft() {
		this.time.settle();
		assertThat(this.registry.activeLocks()).isZero();
		assertThat(this.registry.backgroundActions()).isZero();
	}

}
