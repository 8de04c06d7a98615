// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Waiters without a thread.
 */
class AsyncAcquisitionTests extends AbstractInstancesTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	private static final LockRequest BRIEFLY = REQUEST.withWaitTime(Duration.ofSeconds(3));

	private final DefaultLockRegistry registry = registry(this.store);

	private final DefaultLockRegistry other = registry(this.instances.store());

	@AfterEach
	void nothingIsLeft() {
		this.time.settle();
		assertThat(this.instances.memory.isEmpty()).as("nothing is locked").isTrue();
		assertThat(this.registry.activeLocks() + this.other.activeLocks()).as("active locks").isZero();
		// Until then, a request whose answer was lost may still arrive
		this.time.advance(LEASE_TIME);
		assertThat(this.registry.backgroundActions() + this.other.backgroundActions()).as("background actions")
			.isZero();
	}

	@ParameterizedTest
	@EnumSource
	void aFreeLockIsGrantedAndReleased(LockMode mode) {
		Lease lease = get(this.registry.acquireAsync(REQUEST.withMode(mode)));
		assertThat(lease.isHeld()).isTrue();
		assertThat(lease.fencingToken()).isPositive();
		assertThat(this.other.tryAcquire(AT_ONCE)).isEmpty();
		lease.close();
		assertThat(this.other.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
	}

	@Test
	void theThreadOfTheCallerNeverAsksTheStore() {
		Thread caller = Thread.currentThread();
		this.store.acquire.loseRequests(() -> {
			assertThat(Thread.currentThread()).isNotSameAs(caller);
			return false;
		});
		get(this.registry.acquireAsync(REQUEST)).close();
		assertThat(this.store.acquire.calls()).isOne();
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
	void theLockGoesFromBlockingToAsynchronousCallersAndBackInTheOrderOfTheirArrival(LockMode mode) throws Exception {
		LockRequest request = REQUEST.withMode(mode);
		List<Long> order = new CopyOnWriteArrayList<>();
		Lease first = this.registry.acquire(request);
		List<Call<Boolean>> blocking = new ArrayList<>();
		List<CompletableFuture<Void>> asynchronous = new ArrayList<>();
		for (long i = 0; i < 8; i += 2) {
			long number = i;
			asynchronous.add(this.registry.acquireAsync(request).thenAccept((lease) -> {
				order.add(number);
				lease.close();
			}));
			blocking.add(Callers.start(() -> {
				try (Lease lease = this.registry.acquire(request)) {
					return order.add(number + 1);
				}
			}));
			this.time.awaitParked(blocking.size());
		}
		first.close();
		asynchronous.forEach(AsyncAcquisitionTests::get);
		for (Call<Boolean> call : blocking) {
			call.get();
		}
		assertThat(order).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
		assertThat(this.store.acquire.calls()).isEqualTo((mode == LockMode.FAIR) ? 9 : 1);
	}

	@Test
	void fairCallersAreServedInTheOrderOfTheirArrivalWhicheverJvmTheyAreIn() {
		LockRequest fair = REQUEST.withMode(LockMode.FAIR);
		List<Integer> order = new CopyOnWriteArrayList<>();
		List<CompletableFuture<Void>> callers = new ArrayList<>();
		Lease first = get(this.other.acquireAsync(fair));
		for (DefaultLockRegistry each : List.of(this.registry, this.registry, this.other, this.registry, this.other)) {
			int number = callers.size();
			callers.add(each.acquireAsync(fair).thenAccept((lease) -> {
				order.add(number);
				lease.close();
			}));
			this.time.settle();
		}
		first.close();
		callers.forEach(AsyncAcquisitionTests::get);
		assertThat(order).containsExactly(0, 1, 2, 3, 4);
	}

	@Test
	void readersShareTheLockAndAWriterComesAfterThem() {
		LockRequest read = REQUEST.withMode(LockMode.READ);
		Lease writer = get(this.registry.acquireAsync(REQUEST.withMode(LockMode.WRITE)));
		List<CompletableFuture<Lease>> readers = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			readers.add(this.registry.acquireAsync(read));
		}
		CompletableFuture<Lease> next = this.registry.acquireAsync(REQUEST.withMode(LockMode.WRITE));
		writer.close();
		List<Lease> leases = readers.stream().map(AsyncAcquisitionTests::get).toList();
		assertThat(leases).allMatch(Lease::isHeld);
		assertThat(next).isNotDone();
		leases.forEach(Lease::close);
		get(next).close();
		assertThat(this.registry.acquireAsync(read)).succeedsWithin(Duration.ofSeconds(20))
			.satisfies((lease) -> get(this.registry.acquireAsync(read)).close())
			.satisfies(Lease::close);
	}

	@Test
	void twoAcquisitionsOnOneThreadAreTwoOwners() {
		Lease first = get(this.registry.acquireAsync(REQUEST));
		assertThat(failure(this.registry.acquireAsync(AT_ONCE))).isInstanceOf(LockContendedException.class);
		assertThat(this.registry.tryAcquire(AT_ONCE)).isEmpty();
		first.close();
	}

	@Test
	void theSameOwnerEntersAgainAtOnceAndTheLastLeaseGivesTheLockBack() {
		Object owner = new Object();
		Lease outer = get(this.registry.acquireAsync(REQUEST.withOwner(owner)));
		CompletableFuture<Lease> nested = this.registry.acquireAsync(AT_ONCE.withOwner(owner));
		assertThat(nested).isCompleted();
		assertThat(nested.join().fencingToken()).isEqualTo(outer.fencingToken());
		outer.close();
		assertThat(nested.join().isHeld()).isTrue();
		assertThat(this.registry.tryAcquire(AT_ONCE)).isEmpty();
		nested.join().close();
		assertThat(this.store.acquire.calls()).isOne();
		assertThat(this.store.release.calls()).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void parallelRequestsOfOneOwnerThatWaitedShareTheLeaseThatTheLastOfThemReleases(LockMode mode) {
		LockRequest part = REQUEST.withMode(mode).withOwner("job");
		Lease before = this.other.acquire(REQUEST);
		List<CompletableFuture<Lease>> parts = Stream.generate(() -> this.registry.acquireAsync(part))
			.limit(4)
			.toList();
		this.time.settle();
		before.close();
		List<Lease> leases = parts.stream().map(AsyncAcquisitionTests::get).toList();
		assertThat(leases).extracting(Lease::fencingToken).containsOnly(leases.get(0).fencingToken());
		leases.subList(0, 3).forEach(Lease::close);
		assertThat(leases.get(3).isHeld()).isTrue();
		leases.get(3).close();
		assertThat(this.store.release.calls()).isOne();
	}

	@Test
	void anOwnerThatReadsCannotAskForTheLockAlone() {
		Object owner = new Object();
		try (Lease lease = get(this.registry.acquireAsync(REQUEST.withMode(LockMode.READ).withOwner(owner)))) {
			assertThat(failure(this.registry.acquireAsync(REQUEST.withOwner(owner))))
				.isInstanceOf(IllegalStateException.class)
				.hasMessageContaining("held for reading");
		}
	}

	@Test
	void anOwnerThatHasLostTheLockMayAcquireItAnewAndLearnsOfTheLossFromItsLease() {
		Object owner = new Object();
		Lease lease = get(this.registry.acquireAsync(REQUEST.withOwner(owner)));
		this.store.renew.loseRequests(() -> true);
		this.time.advance(LEASE_TIME);
		assertThat(lease.isHeld()).isFalse();
		Lease next = get(this.registry.acquireAsync(REQUEST.withOwner(owner)));
		assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		assertThat(next.isHeld()).isTrue();
		next.close();
	}

	@Test
	void anOwnerComesAnewAfterTheEndOfAFixedLease() {
		Object owner = new Object();
		Lease lease = get(this.registry.acquireAsync(REQUEST.withLeaseTime(LEASE_TIME).withOwner(owner)));
		this.time.advance(LEASE_TIME);
		assertThat(lease.isHeld()).isFalse();
		Lease next = get(this.registry.acquireAsync(AT_ONCE.withOwner(owner)));
		assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		assertThat(next.isHeld()).isTrue();
		next.close();
	}

	@Test
	void aWaitThatIsTooLongEndsInContention() {
		try (Lease held = this.registry.acquire(REQUEST)) {
			assertThat(failure(this.registry.acquireAsync(AT_ONCE))).isInstanceOf(LockContendedException.class);
			List<CompletableFuture<Lease>> waiting = List.of(this.registry.acquireAsync(BRIEFLY),
					this.other.acquireAsync(BRIEFLY));
			this.time.advance(Duration.ofSeconds(2));
			assertThat(waiting).noneMatch(CompletableFuture::isDone);
			this.time.advance(Duration.ofSeconds(1));
			assertThat(waiting).allMatch(CompletableFuture::isDone)
				.allSatisfy((each) -> assertThat(failure(each)).isInstanceOf(LockContendedException.class)
					.hasMessageContaining("'stock:1001'")
					.satisfies((ex) -> assertThat(((LockContendedException) ex).getWaited()).hasSeconds(3)));
		}
		assertThat(this.events).filteredOn(LockEvent.Contended.class::isInstance).hasSize(3);
	}

	@Test
	void aStoreThatCannotBeAskedIsNoContention() {
		this.store.acquire.loseRequests(() -> true);
		CompletableFuture<Lease> acquisition = this.registry.acquireAsync(BRIEFLY);
		this.time.advance(Duration.ofSeconds(3));
		assertThat(acquisition).isDone();
		assertThat(failure(acquisition)).isInstanceOf(LockUnavailableException.class);
		assertThat(this.events).singleElement().isInstanceOf(LockEvent.Unavailable.class);
		assertThat(this.store.release.calls()).isPositive();
	}

	@ParameterizedTest
	@EnumSource
	void aCancelledWaiterLeavesTheQueueAndDelaysNoOther(LockMode mode) {
		Lease held = this.registry.acquire(REQUEST);
		CompletableFuture<Lease> cancelled = this.registry.acquireAsync(REQUEST.withMode(mode));
		CompletableFuture<Lease> next = this.registry.acquireAsync(REQUEST);
		assertThat(cancelled.cancel(false)).isTrue();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(cancelled::join);
		this.time.settle();
		assertThat(this.events).hasAtLeastOneElementOfType(LockEvent.Interrupted.class);
		held.close();
		get(next).close();
		assertThat(this.events).filteredOn(LockEvent.Acquired.class::isInstance).hasSize(2);
	}

	@Test
	void aWaiterWhoseFutureIsCompletedOtherwiseWithdrawsAsWell() {
		try (Lease held = this.registry.acquire(REQUEST)) {
			CompletableFuture<Lease> impatient = this.registry.acquireAsync(REQUEST);
			impatient.completeExceptionally(new TimeoutException());
			this.time.settle();
			assertThat(this.registry.backgroundActions()).as("the renewal of the lease").isOne();
		}
	}

	@ParameterizedTest
	@EnumSource
	void oneThatIsCancelledWhileItAsksTheStoreLeavesNothingThere(LockMode mode) {
		Lease held = this.other.acquire(REQUEST.withMode((mode == LockMode.READ) ? LockMode.WRITE : mode));
		CompletableFuture<Lease> cancelled = this.registry.acquireAsync(REQUEST.withMode(mode));
		this.time.settle();
		assertThat(this.store.acquire.calls()).isPositive();
		cancelled.cancel(true);
		this.time.settle();
		assertThat(this.registry.activeLocks()).isZero();
		assertThat(this.events).filteredOn(LockEvent.Interrupted.class::isInstance).hasSize(1);
		held.close();
	}

	@Test
	void oneThatIsCancelledBeforeItsRequestArrivesLeavesNoPlaceInTheLine() {
		CountDownLatch cancelled = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		this.store.acquire.loseRequests(() -> {
			Callers.await(cancelled);
			return false;
		});
		this.store.acquire.loseAnswers(() -> {
			answered.countDown();
			return false;
		});
		Lease held = this.other.acquire(REQUEST);
		CompletableFuture<Lease> acquisition = this.registry.acquireAsync(REQUEST.withMode(LockMode.FAIR));
		this.time.settle();
		assertThat(this.store.acquire.calls()).isOne();
		acquisition.cancel(false);
		this.time.settle();
		cancelled.countDown();
		Callers.await(answered);
		this.time.settle();
		assertThat(new StoreClient(this.store).waiters(KEY)).isEmpty();
		held.close();
	}

	@Test
	void oneThatIsGrantedTheLockWhileItJoinsTheLineLeavesNoPlaceThere() {
		CountDownLatch granted = new CountDownLatch(1);
		CountDownLatch joined = new CountDownLatch(1);
		Lease held = this.registry.acquire(REQUEST);
		this.store.arrive.loseRequests(() -> {
			Callers.await(granted);
			return false;
		});
		this.store.arrive.loseAnswers(() -> {
			joined.countDown();
			return false;
		});
		this.store.acquire.loseAnswers(() -> {
			granted.countDown();
			Callers.await(joined);
			this.time.settle();
			return false;
		});
		CompletableFuture<Lease> next = this.registry.acquireAsync(REQUEST.withMode(LockMode.FAIR));
		this.time.settle();
		assertThat(this.store.arrive.calls()).isOne();
		held.close();
		get(next).close();
	}

	@Test
	void theThreadOfOneThatIsCancelledIsNotInterrupted() {
		CountDownLatch cancelled = new CountDownLatch(1);
		CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
		this.store.acquire.loseAnswers(() -> {
			Callers.await(cancelled);
			interrupted.complete(Thread.currentThread().isInterrupted());
			return false;
		});
		CompletableFuture<Lease> acquisition = this.registry.acquireAsync(REQUEST);
		this.time.settle();
		assertThat(this.store.acquire.calls()).isOne();
		acquisition.cancel(true);
		cancelled.countDown();
		assertThat(get(interrupted)).isFalse();
	}

	@Test
	void aGrantInTheInstantOfTheCancellationIsReleased() {
		for (int i = 0; i < 1000; i++) {
			DefaultLockRegistry holder = (i % 2 == 0) ? this.registry : this.other;
			Lease held = holder.acquire(REQUEST);
			CompletableFuture<Lease> acquisition = this.registry.acquireAsync(REQUEST);
			Call<Boolean> release = Callers.start(() -> {
				held.close();
				return true;
			});
			boolean cancelled = acquisition.cancel(false);
			if (!cancelled) {
				acquisition.join().close();
			}
			assertThat(release.result()).succeedsWithin(Duration.ofSeconds(20));
			Lease next = this.registry.acquire(REQUEST);
			next.close();
		}
	}

	@Test
	void anAcquisitionOfAFreeLockIsCancelledInEveryInstant() {
		for (int i = 0; i < 1000; i++) {
			CompletableFuture<Lease> acquisition = this.registry.acquireAsync(REQUEST);
			for (int spins = 0; spins < i; spins++) {
				Thread.onSpinWait();
			}
			if (!acquisition.cancel(false)) {
				acquisition.join().close();
			}
			this.registry.acquire(REQUEST).close();
		}
	}

	@Test
	void theTimeOutAndTheTurnInTheSameInstantLoseNoTurn() {
		for (int i = 0; i < 300; i++) {
			Lease held = this.registry.acquire(REQUEST);
			CompletableFuture<Lease> impatient = this.registry.acquireAsync(BRIEFLY);
			Call<Boolean> release = Callers.start(() -> {
				held.close();
				return true;
			});
			this.time.advance(Duration.ofSeconds(3));
			get(impatient.handle((lease, ex) -> {
				if (lease != null) {
					lease.close();
				}
				return true;
			}));
			assertThat(release.result()).succeedsWithin(Duration.ofSeconds(20));
			this.registry.acquire(REQUEST).close();
		}
	}

	@Test
	void shutdownRefusesWaitersAndNewcomersAndLetsHoldersFinish() throws Exception {
		Lease elsewhere = this.other.acquire(LockRequest.of("stock", 1002));
		Lease held = get(this.registry.acquireAsync(REQUEST));
		CompletableFuture<Lease> waiting = this.registry.acquireAsync(REQUEST);
		CompletableFuture<Lease> visiting = this.registry.acquireAsync(LockRequest.of("stock", 1002));
		this.time.settle();
		assertThat(this.store.acquire.calls()).isGreaterThan(1);
		Call<Boolean> shutdown = Callers.start(() -> {
			this.registry.drain();
			return true;
		});
		assertThat(failure(waiting)).isInstanceOf(LockUnavailableException.class).hasMessageContaining("shutting down");
		assertThat(failure(visiting)).isInstanceOf(LockUnavailableException.class);
		assertThat(failure(this.registry.acquireAsync(REQUEST))).isInstanceOf(LockUnavailableException.class);
		assertThat(failure(this.registry.acquireAsync(LockRequest.of("stock", 1003))))
			.isInstanceOf(LockUnavailableException.class);
		this.time.awaitParked(1);
		assertThat(held.isHeld()).isTrue();
		held.close();
		assertThat(shutdown.get()).isTrue();
		elsewhere.close();
	}

	@Test
	void tenThousandWaitersTakeUpAHandfulOfThreads() {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		AtomicInteger inside = new AtomicInteger();
		List<CompletableFuture<Long>> waiters = new ArrayList<>();
		List<Long> tokens = new ArrayList<>();
		Lease first = get(this.registry.acquireAsync(REQUEST));
		int before = threads.getThreadCount();
		threads.resetPeakThreadCount();
		for (int i = 0; i < 10_000; i++) {
			waiters.add(this.registry.acquireAsync(REQUEST).thenApply((lease) -> {
				assertThat(inside.incrementAndGet()).isOne();
				inside.decrementAndGet();
				lease.close();
				return lease.fencingToken();
			}));
		}
		assertThat(threads.getPeakThreadCount() - before).isLessThan(100);
		first.close();
		waiters.forEach((waiter) -> tokens.add(get(waiter)));
		assertThat(tokens).isSorted().doesNotHaveDuplicates();
		assertThat(threads.getPeakThreadCount() - before).isLessThan(100);
	}

	@Test
	void waitersWithEveryWishAndEveryEndLeaveNothing() {
		List<CompletableFuture<Boolean>> callers = new ArrayList<>();
		AtomicInteger writers = new AtomicInteger();
		for (int i = 0; i < 2000; i++) {
			LockMode mode = LockMode.values()[i % 4];
			DefaultLockRegistry each = (i % 3 == 0) ? this.other : this.registry;
			boolean patient = i % 5 != 0;
			LockRequest request = REQUEST.withMode(mode)
				.withWaitTime(patient ? Duration.ofHours(1) : Duration.ofSeconds(i % 20));
			CompletableFuture<Lease> acquisition = each.acquireAsync(request);
			callers.add(acquisition.thenApply((lease) -> {
				boolean alone = mode == LockMode.READ || writers.incrementAndGet() == 1;
				if (mode != LockMode.READ) {
					writers.decrementAndGet();
				}
				lease.close();
				return alone;
			}).exceptionally((ex) -> !patient || ex.getCause() instanceof CancellationException));
			if (i % 7 == 0) {
				acquisition.cancel(false);
			}
		}
		this.time.advance(Duration.ofSeconds(20));
		assertThat(callers).allSatisfy((caller) -> assertThat(get(caller)).isTrue());
	}

	private static <T> T get(CompletableFuture<T> future) {
		return future.orTimeout(60, TimeUnit.SECONDS).join();
	}

	private static Throwable failure(CompletableFuture<Lease> future) {
		try {
			get(future).close();
			return new AssertionError("It acquired the lock");
		}
		catch (CompletionException ex) {
			return ex.getCause();
		}
	}

	private DefaultLockRegistry registry(LockStore store) {
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(20), LEASE_TIME, 3, Duration.ofMinutes(1),
				Duration.ofMinutes(1), EngineSettings.DEFAULTS.timeSlice(), Duration.ofSeconds(5));
		return this.instances.registry(store, settings, this.events::add);
	}

}
