// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.DelegatingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A store whose answers never come, or come when nobody waits for them any more.
 */
class SilentStoreTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	/** How long the first in line may wait for its own answer. */
	private static final Duration ANSWER_TIME = Duration.ofSeconds(1).dividedBy(2);

	/** Longer than any request is waited for. */
	private static final Duration GIVEN_UP = Duration.ofSeconds(30);

	private static final Duration LEASE_TIME = EngineSettings.DEFAULTS.leaseTime();

	private static final Set<LockKey> SECOND_OF_PAIRS = Set.of(LockKey.of("pair", 2), LockKey.of("pair", 4),
			LockKey.of("pair", 6));

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final ManualTime time = this.instances.time;

	private final SilentStore store = new SilentStore(new MemoryLockStore(this.instances.memory));

	private final DefaultLockRegistry registry = this.instances.registry(this.store);

	private final DefaultLockRegistry other = this.instances.registry();

	/** No lock is left behind, whatever the store does in the end. */
	@AfterEach
	void nothingIsLeftBehind() {
		this.store.speak();
		this.time.advance(LEASE_TIME.plus(GIVEN_UP));
		assertThat(this.registry.activeLocks()).isZero();
		assertThat(this.registry.backgroundActions()).isZero();
		assertThat(this.instances.memory.isEmpty()).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "0, 500, EXCLUSIVE", "200, 500, EXCLUSIVE", "500, 500, EXCLUSIVE", "700, 700, EXCLUSIVE",
			"9000, 9000, EXCLUSIVE", "0, 500, FAIR", "700, 700, FAIR", "0, 500, READ", "700, 700, READ" })
	void aCallerWaitsForItsOwnAnswerAtMostHalfASecondLonger(long waitTime, long left, LockMode mode) {
		this.store.silent = true;
		LockRequest request = REQUEST.withMode(mode).withWaitTime(Duration.ofMillis(waitTime));
		Call<Lease> call = Callers.start(() -> this.registry.acquire(request));
		Call<Optional<Lease>> attempt = Callers.start(() -> this.registry.tryAcquire(other(request)));
		this.time.awaitParked(2);
		CompletableFuture<Lease> future = this.registry.acquireAsync(another(request));
		this.time.advance(Duration.ofMillis(left).minusNanos(1));
		assertThat(call.result()).isNotDone();
		assertThat(attempt.result()).isNotDone();
		assertThat(future).isNotDone();
		this.time.advance(Duration.ofNanos(1));
		assertUnavailable(call.result());
		assertUnavailable(attempt.result());
		assertUnavailable(future);
	}

	@Test
	void anAnswerWithinThatTimeCounts() throws Exception {
		this.store.silent = true;
		Call<Lease> call = Callers.start(() -> this.registry.acquire(AT_ONCE));
		this.time.awaitParked(1);
		CompletableFuture<Lease> future = this.registry.acquireAsync(other(AT_ONCE));
		this.time.advance(ANSWER_TIME.minusNanos(1));
		this.store.speak();
		call.get().close();
		future.join().close();
	}

	@Test
	void aCallerWithTimeAsksAgain() throws Exception {
		this.store.silent = true;
		Call<Lease> call = Callers.start(() -> this.registry.acquire(REQUEST.withWaitTime(LockRequest.FOREVER)));
		this.time.awaitParked(1);
		this.store.silent = false;
		this.time.advance(GIVEN_UP);
		call.get().close();
	}

	@Test
	void aCallerWithoutLimitLearnsOfTheOutage() {
		this.store.silent = true;
		Call<Lease> call = Callers.start(() -> this.registry.acquire(REQUEST.withWaitTime(LockRequest.FOREVER)));
		this.time.awaitParked(1);
		this.time.advance(GIVEN_UP);
		assertUnavailable(call.result());
	}

	@Test
	void aLaterCallerAsksAgain() {
		giveUpAnUnansweredRequest();
		this.store.silent = false;
		this.time.letPass(() -> this.registry.acquire(REQUEST.withWaitTime(GIVEN_UP)).close());
	}

	@ParameterizedTest
	@EnumSource(names = { "EXCLUSIVE", "FAIR" })
	void aCallerBehindAnotherOneLeavesAtItsTime(LockMode mode) {
		this.store.silent = true;
		LockRequest request = REQUEST.withMode(mode);
		CompletableFuture<Lease> first = this.registry.acquireAsync(request.withWaitTime(Duration.ofSeconds(8)));
		assertThat(this.registry.tryAcquire(request.withWaitTime(Duration.ZERO))).isEmpty();
		Call<Lease> call = Callers.start(() -> this.registry.acquire(request.withWaitTime(Duration.ofMillis(100))));
		Call<Lease> later = Callers.start(() -> this.registry.acquire(request.withWaitTime(Duration.ofSeconds(2))));
		this.time.awaitParked(2);
		CompletableFuture<Lease> future = this.registry.acquireAsync(request.withWaitTime(Duration.ofSeconds(2)));
		this.time.advance(Duration.ofMillis(100));
		assertThat(call.result()).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(LockContendedException.class);
		this.time.advance(Duration.ofMillis(1900).minusNanos(1));
		assertThat(later.result()).isNotDone();
		assertThat(future).isNotDone();
		this.time.advance(Duration.ofNanos(1));
		assertUnavailable(later.result());
		assertUnavailable(future);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.registry.acquire(request.withWaitTime(Duration.ZERO)));
		assertThat(first).isNotDone();
		this.time.advance(Duration.ofSeconds(6));
		assertUnavailable(first);
	}

	/** It shares the answer that the first one waits for. */
	@Test
	void aReaderBehindAReaderWaitsNoLongerThanThatOne() {
		this.store.silent = true;
		LockRequest request = AT_ONCE.withMode(LockMode.READ);
		List<CompletableFuture<Lease>> readers = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			readers.add(this.registry.acquireAsync(request));
		}
		this.time.advance(ANSWER_TIME.minusNanos(1));
		assertThat(readers).noneMatch(CompletableFuture::isDone);
		this.time.advance(Duration.ofNanos(1));
		readers.forEach(SilentStoreTests::assertUnavailable);
		CompletableFuture<Lease> later = this.registry.acquireAsync(request);
		this.time.advance(Duration.ZERO);
		assertUnavailable(later);
	}

	@Test
	void aReaderWithAnotherLeaseTimeDoesNotWaitForAnAnswerThatIsNotForIt() {
		this.store.silent = true;
		LockRequest request = AT_ONCE.withMode(LockMode.READ);
		CompletableFuture<Lease> first = this.registry.acquireAsync(request);
		CompletableFuture<Lease> other = this.registry.acquireAsync(request.withLeaseTime(Duration.ofMinutes(7)));
		this.time.settle();
		assertThat(first).isNotDone();
		assertThat(other).isCompletedExceptionally();
		this.time.advance(ANSWER_TIME);
		assertUnavailable(first);
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1000, 60_000 })
	void aGrantThatComesTooLateIsGivenBack(long late) {
		this.store.silent = true;
		Call<Lease> call = Callers.start(() -> this.registry.acquire(AT_ONCE));
		this.time.awaitParked(1);
		this.time.advance(ANSWER_TIME);
		assertUnavailable(call.result());
		this.time.advance(Duration.ofMillis(late));
		this.store.speak();
		this.time.advance(Duration.ofMillis(1));
		this.other.acquire(AT_ONCE).close();
	}

	@Test
	void aLateGrantIsGivenBackThoughAnotherCallerWaits() {
		giveUpAnUnansweredRequest();
		this.time.advance(LEASE_TIME.plus(GIVEN_UP));
		CompletableFuture<Lease> next = this.registry.acquireAsync(REQUEST.withWaitTime(GIVEN_UP));
		this.store.unanswered.remove(0).run();
		this.time.advance(Duration.ofMillis(1));
		this.other.acquire(AT_ONCE).close();
		this.store.speak();
		next.join().close();
	}

	@Test
	void aLateGrantIsGivenBackThoughTheFirstAttemptHasNoAnswer() {
		giveUpAnUnansweredRequest();
		this.store.silentReleases = true;
		this.time.advance(Duration.ofSeconds(10));
		this.store.unanswered.remove(0).run();
		this.store.silentReleases = false;
		this.time.advance(GIVEN_UP.dividedBy(2));
		this.other.acquire(AT_ONCE).close();
	}

	/** Both requests have the token of the same owner. */
	@Test
	void aLateGrantOfALockThatWasGrantedAgainIsNotGivenBackBeforeItsEnd() throws Exception {
		Lease lease = acquireByTheSecondRequest();
		this.store.speak();
		assertRenewedAndReleased(lease);
	}

	@Test
	void aLateGrantIsNotGivenBackWhileItsCallerAsksAgain() {
		this.store.silent = true;
		CompletableFuture<Lease> future = this.registry.acquireAsync(REQUEST.withWaitTime(GIVEN_UP));
		this.time.advance(GIVEN_UP.dividedBy(2));
		assertThat(this.store.unanswered).hasSize(2);
		this.store.unanswered.remove(0).run();
		this.store.speak();
		Lease lease = future.join();
		assertRenewedAndReleased(lease);
	}

	@Test
	void aGrantAfterTheReleaseOfItsOwnerIsGivenBack() throws Exception {
		acquireByTheSecondRequest().close();
		this.time.advance(LEASE_TIME.multipliedBy(2));
		this.store.speak();
		this.time.advance(Duration.ofMillis(1));
		this.other.acquire(AT_ONCE).close();
	}

	@ParameterizedTest
	@CsvSource({ "0, 500", "2000, 2000" })
	void severalLocksAreNotWaitedForLonger(long waitTime, long left) {
		this.store.silent = true;
		assertNotWaitedForLonger(waitTime, left);
	}

	@ParameterizedTest
	@CsvSource({ "0, 500", "2000, 2000" })
	void theLastOfSeveralLocksIsNotWaitedForLonger(long waitTime, long left) {
		this.store.silentLocks = SECOND_OF_PAIRS;
		assertNotWaitedForLonger(waitTime, left);
	}

	private void assertNotWaitedForLonger(long waitTime, long left) {
		Call<LeaseSet> call = Callers.start(() -> this.registry.acquireAll(pair(1, waitTime)));
		Call<Optional<LeaseSet>> attempt = Callers.start(() -> this.registry.tryAcquireAll(pair(3, waitTime)));
		this.time.awaitParked(2);
		CompletableFuture<LeaseSet> future = this.registry.acquireAllAsync(pair(5, waitTime));
		this.time.advance(Duration.ofMillis(left).minusNanos(1));
		assertThat(call.result()).isNotDone();
		assertThat(attempt.result()).isNotDone();
		assertThat(future).isNotDone();
		this.time.advance(Duration.ofNanos(1));
		assertUnavailable(call.result());
		assertUnavailable(attempt.result());
		assertUnavailable(future);
		this.time.advance(LEASE_TIME.multipliedBy(2));
		this.store.speak();
		this.time.advance(Duration.ofMillis(1));
		this.other.acquireAll(pair(1, 0)).close();
		this.other.acquireAll(pair(3, 0)).close();
		this.other.acquireAll(pair(5, 0)).close();
	}

	@Test
	void severalLocksAreAskedForAgainIfTimeIsLeft() throws Exception {
		this.store.silentLocks = SECOND_OF_PAIRS;
		Call<LeaseSet> call = Callers.start(() -> this.registry.acquireAll(pair(1, 60_000)));
		this.time.awaitParked(1);
		CompletableFuture<LeaseSet> future = this.registry.acquireAllAsync(pair(3, 60_000));
		this.store.silentLocks = Set.of();
		this.time.advance(GIVEN_UP);
		LeaseSet leases = call.get();
		this.store.speak();
		SafetyViolation.check(leases.isHeld() && this.other.tryAcquireAll(pair(1, 0)).isEmpty(), "two owners");
		leases.close();
		future.join().close();
	}

	@Test
	void aLockThatIsKeptIsClosedBeforeTheAnswer() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		lease.holdAtLeast(Duration.ofSeconds(10));
		this.store.silentKeeping = true;
		Call<Boolean> close = Callers.start(() -> {
			lease.close();
			return true;
		});
		this.time.awaitParked(1);
		this.time.advance(ANSWER_TIME.minusNanos(1));
		assertThat(close.result()).isNotDone();
		this.time.advance(Duration.ofNanos(1));
		assertThat(close.get()).isTrue();
		this.store.silentKeeping = false;
		this.time.advance(Duration.ofSeconds(9));
		SafetyViolation.check(this.other.tryAcquire(AT_ONCE).isEmpty(), "the lock was not kept");
	}

	@Test
	void aReleaseWithoutAnswerIsMadeAgain() {
		Lease lease = this.registry.acquire(REQUEST);
		this.store.silentReleases = true;
		lease.close();
		this.store.silentReleases = false;
		this.store.unanswered.clear();
		this.time.advance(Duration.ofSeconds(15));
		assertThat(this.registry.backgroundActions()).isZero();
		this.other.acquire(AT_ONCE).close();
	}

	@Test
	void nothingWaitsForAPlaceWithoutAnswer() throws Exception {
		Lease lease = this.other.acquire(REQUEST);
		this.store.silentEntries = true;
		Call<Optional<Lease>> first = Callers
			.start(() -> this.registry.tryAcquire(REQUEST.withMode(LockMode.FAIR).withWaitTime(Duration.ofSeconds(1))));
		this.time.awaitParked(1);
		Call<Optional<Lease>> second = Callers
			.start(() -> this.registry.tryAcquire(REQUEST.withMode(LockMode.FAIR).withWaitTime(Duration.ofSeconds(1))));
		this.time.awaitParked(2);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(first.get()).isEmpty();
		assertThat(second.get()).isEmpty();
		this.time.advance(Duration.ofSeconds(60));
		this.store.unanswered.clear();
		lease.close();
		assertThat(this.registry.backgroundActions()).isZero();
	}

	@Test
	void anInterruptEndsTheWaitOfAClose() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		lease.holdAtLeast(Duration.ofSeconds(10));
		this.store.silentKeeping = true;
		Call<Boolean> close = Callers.start(() -> {
			lease.close();
			return Thread.interrupted();
		});
		this.time.awaitParked(1);
		close.thread().interrupt();
		assertThat(close.get()).isTrue();
		this.store.silentKeeping = false;
		this.time.advance(Duration.ofSeconds(1));
		SafetyViolation.check(this.other.tryAcquire(AT_ONCE).isEmpty(), "the lock was not kept");
	}

	/** Its threads stay at the store for as long as that is silent. */
	@Nested
	class Blocking {

		private final CountDownLatch spoken = new CountDownLatch(1);

		private final AtomicInteger asked = new AtomicInteger();

		private final AtomicInteger answered = new AtomicInteger();

		private final DefaultLockRegistry blocking = SilentStoreTests.this.instances
			.registry(new DelegatingStore(new MemoryLockStore(SilentStoreTests.this.instances.memory)) {

				@Override
				public boolean mayBlock() {
					return true;
				}

				@Override
				protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
					if (SilentStoreTests.this.store.silent && kind != Request.RELEASE && kind != Request.WITHDRAW) {
						Blocking.this.asked.incrementAndGet();
						try {
							Blocking.this.spoken.await();
							Blocking.this.answered.incrementAndGet();
						}
						catch (InterruptedException ex) {
							Thread.currentThread().interrupt();
							return CompletableFuture.failedFuture(ex);
						}
					}
					return request.get();
				}

			});

		@AfterEach
		void speak() {
			this.spoken.countDown();
			SilentStoreTests.this.time.advance(LEASE_TIME.plus(GIVEN_UP));
			assertThat(this.blocking.activeLocks()).isZero();
			assertThat(this.blocking.backgroundActions()).isZero();
		}

		@ParameterizedTest
		@CsvSource({ "0, 500", "200, 500", "2000, 2000" })
		void aCallerWithLittleTimeLeavesThoughTheRequestIsUnderWay(long waitTime, long left) {
			ManualTime time = SilentStoreTests.this.time;
			this.blocking.acquire(AT_ONCE).close();
			SilentStoreTests.this.store.silent = true;
			LockRequest request = REQUEST.withWaitTime(Duration.ofMillis(waitTime));
			Call<Lease> call = Callers.start(() -> this.blocking.acquire(request));
			Call<LeaseSet> several = Callers.start(() -> this.blocking.acquireAll(pair(1, waitTime)));
			time.awaitParked(2);
			CompletableFuture<Lease> future = this.blocking.acquireAsync(other(request));
			CompletableFuture<LeaseSet> futures = this.blocking.acquireAllAsync(pair(3, waitTime));
			Awaitility.await().until(() -> this.asked.get() == 4);
			time.advance(Duration.ofMillis(left).minusNanos(1));
			assertThat(call.result()).isNotDone();
			assertThat(several.result()).isNotDone();
			assertThat(future).isNotDone();
			assertThat(futures).isNotDone();
			time.advance(Duration.ofNanos(1));
			assertUnavailable(call.result());
			assertUnavailable(several.result());
			assertUnavailable(future);
			assertUnavailable(futures);
			assertThat(this.spoken.getCount()).isOne();
		}

		@Test
		void aRequestThatHasFoundNoThreadInTimeIsNeverMade() {
			ManualTime time = SilentStoreTests.this.time;
			this.blocking.acquire(AT_ONCE).close();
			SilentStoreTests.this.store.silent = true;
			List<CompletableFuture<Lease>> futures = new ArrayList<>();
			for (int id = 0; id < 10; id++) {
				futures.add(this.blocking.acquireAsync(LockRequest.of("many", id).withWaitTime(Duration.ZERO)));
			}
			Awaitility.await().until(() -> this.asked.get() == 8);
			time.advance(GIVEN_UP);
			assertThat(futures).allSatisfy(SilentStoreTests::assertUnavailable);
			this.spoken.countDown();
			Awaitility.await().until(() -> this.answered.get() == 8);
			time.settle();
			assertThat(this.asked).hasValue(8);
		}

		/** It connects, for which the JVM loads classes. */
		@Test
		void itsFirstAnswerIsWaitedFor() throws Exception {
			ManualTime time = SilentStoreTests.this.time;
			SilentStoreTests.this.store.silent = true;
			Call<Lease> call = Callers.start(() -> this.blocking.acquire(AT_ONCE));
			time.awaitParked(1);
			time.advance(Duration.ofSeconds(5));
			assertThat(call.result()).isNotDone();
			this.spoken.countDown();
			call.get().close();
		}

		@Test
		void aCallerBehindOneThatBlocksLeavesAtItsTime() throws Exception {
			ManualTime time = SilentStoreTests.this.time;
			this.blocking.acquire(AT_ONCE).close();
			SilentStoreTests.this.store.silent = true;
			Call<Lease> first = Callers.start(() -> this.blocking.acquire(REQUEST.withWaitTime(LockRequest.FOREVER)));
			Awaitility.await().until(() -> this.asked.get() == 1);
			Call<Lease> call = Callers.start(() -> this.blocking.acquire(REQUEST.withWaitTime(Duration.ofSeconds(4))));
			time.awaitParked(1);
			time.advance(Duration.ofSeconds(4).minusNanos(1));
			assertThat(call.result()).isNotDone();
			time.advance(Duration.ofNanos(1));
			assertUnavailable(call.result());
			SilentStoreTests.this.store.silent = false;
			this.spoken.countDown();
			first.get().close();
		}

	}

	private void giveUpAnUnansweredRequest() {
		this.store.silent = true;
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.time.letPass(() -> this.registry.acquire(AT_ONCE)));
	}

	private Lease acquireByTheSecondRequest() throws Exception {
		this.store.silent = true;
		Call<Lease> call = Callers.start(() -> this.registry.acquire(REQUEST.withWaitTime(GIVEN_UP)));
		this.time.awaitParked(1);
		this.store.silent = false;
		this.time.advance(GIVEN_UP.minusMillis(1));
		return call.get();
	}

	private void assertRenewedAndReleased(Lease lease) {
		this.time.advance(LEASE_TIME);
		SafetyViolation.check(lease.isHeld(), "the lock is lost");
		SafetyViolation.check(this.other.tryAcquire(AT_ONCE).isEmpty(), "two owners");
		lease.close();
		this.other.acquire(AT_ONCE).close();
	}

	private static LockRequest other(LockRequest request) {
		return LockRequest.of("stock", 1002)
			.withMode(request.mode())
			.withWaitTime(Objects.requireNonNull(request.waitTime()));
	}

	private static LockRequest another(LockRequest request) {
		return LockRequest.of("stock", 1003)
			.withMode(request.mode())
			.withWaitTime(Objects.requireNonNull(request.waitTime()));
	}

	private static List<LockRequest> pair(int first, long waitMillis) {
		Duration waitTime = Duration.ZERO.plusMillis(waitMillis);
		return List.of(LockRequest.of("pair", first).withWaitTime(waitTime),
				LockRequest.of("pair", first + 1).withWaitTime(waitTime));
	}

	private static void assertUnavailable(CompletableFuture<?> result) {
		assertThat(result).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(LockUnavailableException.class);
	}

	/**
	 * A store that does not block, and carries out a request without an answer only when
	 * it speaks.
	 */
	private static final class SilentStore extends DirectStore {

		private final List<Runnable> unanswered = new CopyOnWriteArrayList<>();

		private volatile boolean silent;

		private volatile Set<LockKey> silentLocks = Set.of();

		private volatile boolean silentKeeping;

		private volatile boolean silentReleases;

		private volatile boolean silentEntries;

		SilentStore(LockStore delegate) {
			super(delegate);
		}

		@Override
		protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
			boolean silent = switch (kind) {
				case ACQUIRE -> this.silent;
				case KEEP -> this.silentKeeping;
				case RELEASE -> this.silentReleases;
				case ENTER -> this.silentEntries;
				case WITHDRAW, INSPECT, FREE -> false;
			};
			return silent ? noAnswerTo(request) : request.get();
		}

		@Override
		public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
			return this.silentLocks.contains(request.key()) ? noAnswerTo(() -> super.acquire(request, wait))
					: super.acquire(request, wait);
		}

		private <T> CompletionStage<T> noAnswerTo(Supplier<CompletionStage<T>> request) {
			CompletableFuture<T> answer = new CompletableFuture<>();
			this.unanswered.add(() -> answer.complete(request.get().toCompletableFuture().join()));
			return answer;
		}

		/** Carry out and answer what was asked. */
		void speak() {
			this.silent = false;
			this.silentLocks = Set.of();
			this.silentKeeping = false;
			this.silentReleases = false;
			List<Runnable> requests = List.copyOf(this.unanswered);
			this.unanswered.clear();
			requests.forEach(Runnable::run);
		}

	}

}
