// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.FaultInjectingStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * FIFO order across JVMs.
 */
class FairLockTests extends AbstractInstancesTests {

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("ticket", 7))
		.withMode(LockMode.FAIR)
		.withWaitTime(Duration.ofMinutes(1));

	private final DefaultLockRegistry one = registry(this.store);

	private final DefaultLockRegistry two = registry(this.instances.store());

	private final List<Integer> order = new CopyOnWriteArrayList<>();

	@AfterEach
	void nothingIsLeft() {
		for (DefaultLockRegistry registry : List.of(this.one, this.two)) {
			Awaitility.await().until(() -> registry.activeLocks() == 0 && registry.backgroundActions() == 0);
		}
		Awaitility.await().until(this.memory::isEmpty);
	}

	@Test
	void eachCallerOfAJvmIsGrantedTheLockByTheStore() throws Exception {
		Lease lease = this.one.acquire(REQUEST);
		Call<Long> first = caller(this.one, 1);
		Call<Long> second = caller(this.one, 2);
		lease.close();
		first.get();
		second.get();
		assertThat(this.order).containsExactly(1, 2);
		assertThat(this.store.release.calls()).isEqualTo(3);
	}

	@Test
	void anotherModeOfTheSameJvmDoesNotReceiveTheLockInPlaceOfTheNextInLine() throws Exception {
		DefaultLockRegistry handingOn = this.instances.registry(this.store);
		Lease lease = handingOn.acquire(REQUEST);
		Call<Long> next = caller(this.two, 1);
		CompletableFuture<Lease> exclusive = handingOn.acquireAsync(REQUEST.withMode(LockMode.EXCLUSIVE));
		lease.close();
		next.get();
		this.order.add(2);
		exclusive.get().close();
		assertThat(this.order).containsExactly(1, 2);
	}

	@Test
	void aWaiterThatWithdrawsDelaysNoOther() throws Exception {
		Lease lease = this.one.acquire(REQUEST);
		Call<Lease> impatient = Callers.start(() -> this.two.acquire(REQUEST.withWaitTime(Duration.ofSeconds(3))));
		impatient.awaitParked();
		Call<Long> interrupted = caller(this.two, 1);
		Call<Long> patient = caller(this.one, 2);
		interrupted.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(interrupted::get);
		this.time.advance(Duration.ofSeconds(3));
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(impatient::get);
		this.time.settle();
		lease.close();
		patient.get();
		assertThat(this.order).containsExactly(2);
	}

	/** The message of its turn repeats the withdrawal. */
	@ParameterizedTest
	@EnumSource
	void aPlaceWhoseWithdrawalGotLostIsGivenUpWhenItIsItsTurn(LockMode mode) {
		Lease lease = this.two.acquire(REQUEST);
		this.store.withdraw.loseRequests(() -> this.store.withdraw.calls() == 1);
		LockRequest brief = REQUEST.withMode(mode).withWaitTime(Duration.ofSeconds(3));
		assertThat(this.time.letPass(() -> this.one.tryAcquire(brief))).isEmpty();
		this.time.advance(Duration.ofMinutes(2));
		assertThat(this.store.withdraw.calls()).isOne();
		assertThat(this.memory.isEmpty()).isFalse();
		lease.close();
		this.time.settle();
		assertThat(this.store.withdraw.calls()).isEqualTo(2);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aCallerWhoseArrivalGotLostComesWhenItAsks() throws Exception {
		Lease lease = this.one.acquire(REQUEST);
		caller(this.one, 1).awaitParked();
		this.store.arrive.loseRequests(() -> true);
		Call<Long> unheard = caller(this.one, 2);
		lease.close();
		unheard.get();
		assertThat(this.order).containsExactly(1, 2);
	}

	@Test
	void aWaiterWhosePlaceGotLostComesAgainWhileItStandsBehindOneThatNobodyTells() throws Exception {
		Lease lease = this.two.acquire(REQUEST);
		Call<Long> first = caller(this.one, 1);
		this.store.arrive.loseRequests(() -> true);
		Call<Long> forgotten = caller(this.one, 2);
		this.store.arrive.loseRequests(() -> false);
		this.time.advance(Duration.ofSeconds(15));
		this.time.advance(Duration.ofSeconds(16));
		this.time.settle();
		Call<Long> later = caller(this.two, 3);
		lease.close();
		first.get();
		forgotten.get();
		later.get();
		assertThat(this.order).containsExactly(1, 2, 3);
	}

	@Test
	void aJvmThatWasNeverNotifiedKeepsItsPlace() throws Exception {
		Lease lease = this.one.acquire(REQUEST.withWaitTime(Duration.ZERO));
		Call<Long> first = caller(this.one, 1);
		Call<Long> second = caller(this.two, 2);
		lease.close();
		assertThat(first.get()).isLessThan(second.get());
		assertThat(this.order).containsExactly(1, 2);
	}

	@Test
	void aWaiterThatHadTheLockTooLateAndThenGivesUpLeavesNoPlace() {
		AtomicReference<Lease> overtaking = new AtomicReference<>();
		this.store.acquire.loseAnswers(() -> {
			if (overtaking.get() == null) {
				overtaking.set(this.two.acquire(REQUEST));
			}
			return false;
		});
		LockRequest brief = REQUEST.withLeaseTime(Duration.ofSeconds(1)).withWaitTime(Duration.ofSeconds(3));
		assertThat(this.time.letPass(() -> this.one.tryAcquire(brief))).isEmpty();
		overtaking.get().close();
		this.time.settle();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	@Disabled("The place of an instance stays in the line when the waiter that has taken it leaves, and its other waiters"
			+ " use its turn: first the line of a store must have a place for each waiter, which leaves with it")
	void noWaiterOvertakesAnotherBecauseOneOfAnotherModeHasLeftInItsJvm() throws Exception {
		Lease lease = this.two.acquire(REQUEST);
		CompletableFuture<Lease> left = this.one.acquireAsync(REQUEST.withMode(LockMode.EXCLUSIVE));
		this.time.settle();
		Call<Long> first = caller(this.two, 1);
		Call<Long> second = caller(this.one, 2);
		Call<Long> third = caller(this.two, 3);
		Call<Long> fourth = caller(this.one, 4);
		left.cancel(false);
		this.time.settle();
		lease.close();
		for (Call<Long> each : List.of(first, second, third, fourth)) {
			each.get();
		}
		assertThat(this.order).containsExactly(1, 2, 3, 4);
	}

	@Test
	void itIsReentrant() {
		try (Lease outer = this.one.acquire(REQUEST); Lease inner = this.one.acquire(REQUEST)) {
			assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
		}
	}

	@Test
	void anExclusiveWaiterMayFollowOnAFairHolderInTheSameJvm() throws Exception {
		Lease lease = this.one.acquire(REQUEST);
		Call<Long> exclusive = Callers.start(() -> {
			try (Lease held = this.one.acquire(REQUEST.withMode(LockMode.EXCLUSIVE))) {
				return held.fencingToken();
			}
		}).awaitParked();
		Call<Long> fair = caller(this.one, 1);
		lease.close();
		assertThat(exclusive.get()).isLessThan(fair.get());
	}

	private Call<Long> caller(DefaultLockRegistry registry, int number) throws InterruptedException {
		Call<Long> call = Callers.start(() -> {
			try (Lease lease = registry.acquire(REQUEST)) {
				this.order.add(number);
				return lease.fencingToken();
			}
		});
		return call.awaitParked();
	}

	private DefaultLockRegistry registry(FaultInjectingStore store) {
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(20), Duration.ofSeconds(30), 3,
				Duration.ofMinutes(1), Duration.ofSeconds(1), Duration.ZERO, Duration.ofSeconds(5));
		return this.instances.registry(store, settings, LockListener.NO_OP);
	}

}
