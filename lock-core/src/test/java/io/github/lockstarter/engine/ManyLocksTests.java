// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.Collection;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.GroupGrant;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Several locks, together or not at all.
 */
@Tag("clock")
class ManyLocksTests {

	private static final LockSetRequest ALL = LockSetRequest.of("stock", List.of(3, 1, 2));

	private static final LockSetRequest ALL_NOW = ALL.withWaitTime(Duration.ZERO);

	private static final LockSetRequest SHORT = ALL.withLeaseTime(Duration.ofMillis(500))
		.withWaitTime(Duration.ofSeconds(20));

	private final LockMemory memory = new LockMemory();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final DefaultLockRegistry registry = registry(this.store, Duration.ofSeconds(30));

	private final DefaultLockRegistry other = registry(new MemoryLockStore(this.memory), Duration.ofSeconds(30));

	@AfterEach
	void nothingIsLeft() {
		for (DefaultLockRegistry each : List.of(this.registry, this.other)) {
			Awaitility.await().until(() -> each.activeLocks() == 0 && each.backgroundActions() == 0);
			each.close();
		}
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void freeLocksAreTakenAtOnceInTheOrderThatIsTheSameEverywhere() {
		try (LeaseSet lease = this.registry.acquireAll(ALL)) {
			assertThat(lease.all()).extracting((each) -> each.key().key()).containsExactly("1", "2", "3");
			assertThat(lease.all()).extracting(Lease::fencingToken).doesNotHaveDuplicates();
			assertThat(lease.isHeld()).isTrue();
			assertThat(lease.remaining()).isPositive();
			for (int id : List.of(1, 2, 3)) {
				assertThat(this.other.tryAcquire(one(id))).isEmpty();
			}
		}
		assertThat(this.store.acquireAll.calls()).isEqualTo(1);
		assertThat(this.store.acquire.calls()).isZero();
		assertThat(this.other.tryAcquireAll(ALL_NOW)).hasValueSatisfying(LeaseSet::close);
	}

	/**
	 * The leases of the locks expire between the answer and its last lock.
	 */
	@Test
	void aPauseAfterTheGrantOfAllLeavesNoWaiterBehind() throws Exception {
		Duration leaseTime = Duration.ofMillis(300);
		Pause pause = new Pause(leaseTime.multipliedBy(2));
		DefaultLockRegistry pausing = registry(new DirectStore(this.store) {

			@Override
			public CompletionStage<LockAttempt> acquire(LeaseRequest request, Place place) {
				return super.acquire(request, place).thenApplyAsync((attempt) -> attempt,
						CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS));
			}

			@Override
			public Optional<GroupGrant> groupGrant() {
				return super.groupGrant().map((grant) -> pause.after(grant));
			}

		}, leaseTime);
		LockRequest later = LockRequest.of("stock", 3);
		Callers.start(() -> {
			// A grant that comes later than its lease is not for these locks
			while (!pause.isOver()) {
				pausing.tryAcquireAll(ALL).ifPresent(LeaseSet::close);
			}
			return pausing.tryAcquire(later);
		}).get().ifPresent(Lease::close);
		EngineProbe.closeWhenIdle(pausing);
	}

	@Test
	void whereOneIsTakenElsewhereNoneIsTaken() {
		try (Lease taken = this.other.acquire(one(2))) {
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.registry.acquireAll(ALL_NOW))
				.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(taken.key()));
			for (int id : List.of(1, 3)) {
				assertThat(this.other.tryAcquire(one(id))).hasValueSatisfying(Lease::close);
			}
		}
	}

	@Test
	void whereOneIsTakenInTheSameJvmNoneIsTaken() throws Exception {
		try (Lease taken = this.registry.acquire(one(3))) {
			assertThat(Callers.start(() -> this.registry.tryAcquireAll(ALL_NOW)).get()).isEmpty();
			for (int id : List.of(1, 2)) {
				assertThat(this.other.tryAcquire(one(id))).hasValueSatisfying(Lease::close);
			}
		}
	}

	@Test
	void theLocksAreWaitedForWithinOneDeadline() throws Exception {
		Lease first = this.other.acquire(one(1));
		Lease last = this.other.acquire(one(3));
		Call<LeaseSet> waiting = Callers.start(() -> this.registry.acquireAll(ALL));
		waiting.awaitParked();
		first.close();
		waiting.awaitParked();
		last.close();
		waiting.get().close();
		// Two deadlines would be over after 7.7 s, one after 4 s and a standstill
		Lease early = this.other.acquire(one(1).withLeaseTime(Duration.ofMillis(3700)));
		try (Lease taken = this.other.acquire(one(3))) {
			Call<LeaseSet> late = Callers
				.start(() -> this.registry.acquireAll(ALL.withWaitTime(Duration.ofSeconds(4))));
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(late::get)
				.satisfies((ex) -> assertThat(ex.getWaited()).isLessThan(Duration.ofMillis(7500)));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(early::close);
		}
		// The last request of a waiter that has left may be released a moment later
		try (Lease taken = this.other.acquire(LockRequest.of("stock", 3))) {
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> this.registry.acquireAll(ALL.withWaitTime(Duration.ofMillis(50))));
		}
	}

	@Test
	void anInterruptEndsTheWaitAndReleasesWhatWasAcquired() throws Exception {
		try (Lease taken = this.other.acquire(one(3))) {
			Call<LeaseSet> waiting = Callers.start(() -> this.registry.acquireAll(ALL)).awaitParked();
			waiting.thread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(waiting::get);
			assertThat(this.other.tryAcquire(one(1))).hasValueSatisfying(Lease::close);
		}
	}

	@Test
	void aLockThatIsNamedTwiceIsTakenOnceInTheStrongerMode() {
		LockRequest read = one(1).withMode(LockMode.READ);
		try (LeaseSet lease = this.registry
			.acquireAll(LockSetRequest.of(read, one(1), one(2).withMode(LockMode.READ)))) {
			assertThat(lease.all()).hasSize(2);
			assertThat(this.other.tryAcquire(read)).isEmpty();
			assertThat(this.other.tryAcquire(one(2).withMode(LockMode.READ))).hasValueSatisfying(Lease::close);
		}
	}

	@Test
	void locksThatAreHeldAlreadyAreReentered() {
		try (Lease outer = this.registry.acquire(one(2)); LeaseSet all = this.registry.acquireAll(ALL)) {
			assertThat(all.all().get(1).fencingToken()).isEqualTo(outer.fencingToken());
			try (LeaseSet again = this.registry.acquireAll(ALL)) {
				assertThat(again.isHeld()).isTrue();
			}
			assertThat(all.isHeld()).isTrue();
		}
	}

	@Test
	void aLockThatIsHeldAlreadyIsNotReenteredWhereAnotherOneIsTaken() {
		Lease outer = this.registry.acquire(one(1));
		try (Lease taken = this.other.acquire(one(2))) {
			assertThat(this.registry.tryAcquireAll(ALL_NOW)).isEmpty();
			assertThat(outer.isHeld()).isTrue();
		}
		outer.close();
		assertThat(this.other.tryAcquire(one(1))).hasValueSatisfying(Lease::close);
	}

	@Test
	void anAnswerThatGotLostBlocksNobody() {
		this.store.acquireAll.loseAnswers(() -> true);
		// A lock that is not released is held for longer than the wait time
		try (DefaultLockRegistry unlucky = registry(this.store, Duration.ofMinutes(1))) {
			try (LeaseSet lease = unlucky.acquireAll(ALL)) {
				assertThat(lease.isHeld()).isTrue();
			}
			this.other.acquireAll(ALL).close();
		}
		this.memory.clear();
	}

	@Test
	void aWaiterForOneOfThemIsServedAfterwards() throws Exception {
		LeaseSet all = this.registry.acquireAll(ALL);
		Call<Lease> here = Callers.start(() -> this.registry.acquire(one(1).withWaitTime(Duration.ofSeconds(20))));
		Call<Lease> there = Callers.start(() -> this.other.acquire(one(2).withWaitTime(Duration.ofSeconds(20))));
		here.awaitParked();
		there.awaitParked();
		all.close();
		here.get().close();
		there.get().close();
	}

	@Test
	void theLossOfOneIsTheLossOfAll() {
		try (DefaultLockRegistry renewing = registry(this.store, Duration.ofMillis(300))) {
			LeaseSet lease = renewing.acquireAll(ALL);
			List<LockLostException> losses = new CopyOnWriteArrayList<>();
			lease.onLost(losses::add);
			this.memory.clear();
			Awaitility.await().until(() -> losses.size() == 1);
			assertThat(lease.isHeld()).isFalse();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld);
			Awaitility.await().until(() -> this.events.stream().filter(LockEvent.Lost.class::isInstance).count() == 3);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close)
				.satisfies((ex) -> assertThat(ex.getSuppressed()).isNotEmpty());
			assertThat(losses).hasSize(1);
			Awaitility.await().until(() -> renewing.activeLocks() == 0 && renewing.backgroundActions() == 0);
		}
	}

	@Test
	void eachLockHasItsOwnLease() {
		try (LeaseSet leases = this.registry.acquireAll(ALL)) {
			Lease second = leases.get(LockKey.of("stock", 2));
			assertThat(second).isSameAs(leases.all().get(1));
			assertThat(second.get(second.key())).isSameAs(second);
			assertThatIllegalArgumentException().isThrownBy(() -> leases.get(LockKey.of("stock", 4)))
				.withMessage("There is no lease of lock 'stock:4' in this set");
			second.close();
			assertThat(leases.isHeld()).isFalse();
			assertThat(leases.remaining()).isZero();
			assertThatIllegalStateException().isThrownBy(leases::ensureHeld);
			assertThat(this.other.tryAcquire(one(2))).hasValueSatisfying(Lease::close);
			assertThat(this.other.tryAcquire(one(3))).isEmpty();
		}
	}

	@Test
	void aSetOfOneLockIsASetAsWell() throws Exception {
		LockSetRequest single = LockSetRequest.of(one(1));
		try (LeaseSet leases = this.registry.acquireAll(single)) {
			assertThat(leases).isNotInstanceOf(Lease.class);
			assertThat(leases.all()).extracting(Lease::key).containsExactly(LockKey.of("stock", 1));
			assertThat(this.other.tryAcquireAll(single)).isEmpty();
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.other.acquireAll(single));
		}
		this.registry.acquireAllAsync(single).get(20, TimeUnit.SECONDS).close();
		assertThat(this.store.acquireAll.calls()).isZero();
	}

	@Test
	void aTemplateRunsUnderAllAndKeepsThoseThatItShould() {
		ManualTime time = new ManualTime();
		LockMemory memory = new LockMemory(time);
		try (DefaultLockRegistry here = registry(new MemoryLockStore(memory), Duration.ofSeconds(30));
				DefaultLockRegistry there = registry(new MemoryLockStore(memory), Duration.ofSeconds(30))) {
			Duration keeping = Duration.ofSeconds(30);
			LockSetRequest kept = LockSetRequest.of(one(1).withHoldAtLeast(keeping), one(2));
			int locks = new LockTemplate(here).execute(kept, (leases) -> LeaseSet.current().all().size());
			assertThat(locks).isEqualTo(2);
			assertThat(there.tryAcquire(one(1))).isEmpty();
			assertThat(there.tryAcquire(one(2))).hasValueSatisfying(Lease::close);
			assertThat(memory.isEmpty()).isFalse();
			time.advance(keeping);
			assertThat(memory.isEmpty()).isTrue();
		}
	}

	@Test
	void theyAreTakenTogetherWithoutAThreadAsWell() throws Exception {
		Lease first = this.other.acquire(one(1));
		CompletableFuture<LeaseSet> future = this.registry.acquireAllAsync(ALL);
		assertThat(future).isNotDone();
		first.close();
		LeaseSet lease = future.get(20, TimeUnit.SECONDS);
		assertThat(lease.all()).extracting((each) -> each.key().key()).containsExactly("1", "2", "3");
		assertThat(this.other.tryAcquire(one(3))).isEmpty();
		lease.close();
	}

	@Test
	void freeLocksAreTakenAtOnceWithoutAThreadAsWell() throws Exception {
		try (LeaseSet lease = this.registry.acquireAllAsync(ALL).get(20, TimeUnit.SECONDS)) {
			assertThat(lease.all()).hasSize(3).allMatch(Lease::isHeld);
		}
		assertThat(this.store.acquireAll.calls()).isEqualTo(1);
		assertThat(this.store.acquire.calls()).isZero();
	}

	@Test
	void locksThatAreGrantedAtOnceAfterTheFutureWasCancelledAreReleased() {
		CompletableFuture<CompletableFuture<LeaseSet>> begun = new CompletableFuture<>();
		this.store.acquireAll.loseAnswers(() -> {
			begun.join().cancel(false);
			return false;
		});
		begun.complete(this.registry.acquireAllAsync(ALL));
		Awaitility.await().until(() -> this.store.release.calls() == 3);
		assertThat(this.other.tryAcquireAll(ALL_NOW)).hasValueSatisfying(LeaseSet::close);
	}

	@Test
	void whenAFutureOfLocksFailsNoneOfThemIsHeld() throws Exception {
		try (Lease taken = this.other.acquire(one(3))) {
			CompletableFuture<Boolean> free = this.registry.acquireAllAsync(ALL_NOW)
				.handle((lease, ex) -> ex instanceof LockContendedException
						&& this.registry.tryAcquire(one(1)).map(ManyLocksTests::close).orElse(false));
			assertThat(free.get(20, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void cancellingTheFutureEndsTheWaitForAllAndReleasesWhatWasAcquired() {
		try (Lease taken = this.other.acquire(one(3))) {
			CompletableFuture<LeaseSet> future = this.registry.acquireAllAsync(ALL);
			Awaitility.await().until(() -> this.registry.activeLocks() == 3);
			future.cancel(false);
			Awaitility.await().until(() -> this.registry.activeLocks() == 0);
			assertThat(this.other.tryAcquire(one(1))).hasValueSatisfying(Lease::close);
		}
	}

	@Test
	void aThousandLocksThatAreHeldAlreadyAreReenteredOnASmallStack() throws Exception {
		LockSetRequest thousand = LockSetRequest.of("stock", IntStream.range(0, 1000).boxed().toList()).withOwner("me");
		CompletableFuture<LeaseSet> inner = new CompletableFuture<>();
		try (LeaseSet outer = this.registry.acquireAllAsync(thousand).get(20, TimeUnit.SECONDS)) {
			new Thread(null,
					() -> this.registry.acquireAllAsync(thousand).whenComplete((lease, ex) -> inner.complete(lease)),
					"small", 1 << 18)
				.start();
			inner.get(20, TimeUnit.SECONDS).close();
			assertThat(outer.isHeld()).isTrue();
		}
	}

	@Test
	void cancellingTheFutureDoesNotWaitForTheStore() throws Exception {
		CountDownLatch answer = new CountDownLatch(1);
		try (Lease taken = this.other.acquire(one(2))) {
			CompletableFuture<LeaseSet> future = this.registry.acquireAllAsync(ALL);
			Awaitility.await().until(() -> this.other.tryAcquire(one(1)).map(ManyLocksTests::close).isEmpty());
			this.store.release.loseRequests(() -> {
				awaitUninterrupted(answer);
				return false;
			});
			Callers.start(() -> future.cancel(false)).get();
		}
		finally {
			answer.countDown();
		}
	}

	@Test
	void aThousandLocksAreTakenTogether() {
		LockSetRequest thousand = LockSetRequest.of("stock", IntStream.range(0, 1000).boxed().toList());
		try (LeaseSet lease = this.registry.acquireAll(thousand)) {
			assertThat(lease.all()).hasSize(1000);
		}
		assertThat(this.store.acquireAll.calls()).isEqualTo(1);
	}

	@Test
	void overlappingSetsNeitherDeadlockNorOverlap() throws Exception {
		int[] counts = new int[6];
		List<Call<Boolean>> calls = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			DefaultLockRegistry jvm = (i % 2 == 0) ? this.registry : this.other;
			Random random = new Random(i);
			calls.add(Callers.start(() -> {
				for (int n = 0; n < 200; n++) {
					List<Integer> ids = random.ints(1 + random.nextInt(4), 0, counts.length).boxed().toList();
					try (LeaseSet lease = jvm.acquireAll(LockSetRequest.of("count", ids))) {
						for (int id : ids.stream().distinct().toList()) {
							int before = counts[id];
							Thread.onSpinWait();
							counts[id] = before + 1;
						}
					}
				}
				return true;
			}));
		}
		for (Call<Boolean> call : calls) {
			call.get();
		}
		long expected = IntStream.range(0, 6).mapToLong((seed) -> {
			Random random = new Random(seed);
			return IntStream.range(0, 200)
				.mapToLong((n) -> random.ints(1 + random.nextInt(4), 0, counts.length).distinct().count())
				.sum();
		}).sum();
		assertThat(IntStream.of(counts).sum()).isEqualTo(expected);
	}

	@Test
	void bodiesThatWaitForALockDoNotKeepItFromBeingReleased() {
		LeaseSet leases = this.registry.acquireAll(ALL);
		List<CompletableFuture<Lease>> others = IntStream.range(0, 30)
			.mapToObj((i) -> this.registry.acquireAsync(LockRequest.of("other", i)))
			.toList();
		assertThat(others).allSatisfy((lease) -> assertThat(lease).succeedsWithin(Duration.ofSeconds(10)));
		List<CompletableFuture<Void>> bodies = others.stream().map((other) -> other.thenAcceptAsync((lease) -> {
			try (lease) {
				this.registry.acquire(LockRequest.of("stock", 1)).close();
			}
		})).toList();
		assertThat(leases.closeAsync()).succeedsWithin(Duration.ofSeconds(10));
		assertThat(bodies).allSatisfy((body) -> assertThat(body).succeedsWithin(Duration.ofSeconds(10)));
	}

	@Test
	void aLockThatIsLostDuringTheWaitForAnotherIsAcquiredAgain() throws Exception {
		Lease second = this.other.acquire(one(2));
		Call<Boolean> call = Callers.start(() -> {
			try (LeaseSet leases = this.registry.acquireAll(SHORT)) {
				return leases.isHeld();
			}
		});
		loseFirst(second);
		assertThat(call.get()).isTrue();
	}

	@Test
	void aLockThatIsLostDuringTheAsynchronousWaitForAnotherIsAcquiredAgain() {
		Lease second = this.other.acquire(one(2));
		CompletableFuture<Boolean> held = this.registry.acquireAllAsync(SHORT).thenApply((leases) -> {
			try (leases) {
				return leases.isHeld();
			}
		});
		loseFirst(second);
		assertThat(held).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(true);
	}

	/** Let the first lock expire, and then let the wait for the second one end. */
	private void loseFirst(Lease second) {
		Awaitility.await().until(() -> this.store.acquire.calls() > 1);
		Lease first = this.other.acquire(LockRequest.of("stock", 1));
		second.close();
		first.close();
	}

	@Test
	void aLockThatIsLostDuringTheWholeWaitTimeCountsAsContended() {
		Duration waitTime = Duration.ofMillis(200);
		LockSetRequest request = LockSetRequest
			.of(LockRequest.of("stock", 1).withLeaseTime(Duration.ofMillis(100)), LockRequest.of("stock", 2))
			.withWaitTime(waitTime);
		try (DefaultLockRegistry slow = registry(new SlowStore(this.memory, waitTime), Duration.ofSeconds(30))) {
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> slow.acquireAll(request))
				.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(LockKey.of("stock", 1)));
			assertThat(slow.acquireAllAsync(request)).failsWithin(Duration.ofSeconds(10))
				.withThrowableThat()
				.withCauseInstanceOf(LockContendedException.class);
			Awaitility.await().until(() -> slow.activeLocks() == 0 && slow.backgroundActions() == 0);
		}
	}

	private static void awaitUninterrupted(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static boolean close(Lease lease) {
		lease.close();
		return true;
	}

	private static LockRequest one(int id) {
		return LockRequest.of("stock", id).withWaitTime(Duration.ZERO);
	}

	private DefaultLockRegistry registry(LockStore store, Duration leaseTime) {
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(20), leaseTime, 3, Duration.ofMillis(200),
				Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofSeconds(5));
		return new DefaultLockRegistry(store, settings, this.events::add);
	}

	/**
	 * A store whose answer for the second lock takes longer than the wait time, and that
	 * grants locks only one by one.
	 */
	private static final class SlowStore extends DirectStore {

		private final Duration waitTime;

		SlowStore(LockMemory memory, Duration waitTime) {
			super(new MemoryLockStore(memory));
			this.waitTime = waitTime;
		}

		@Override
		public CompletionStage<LockAttempt> acquire(LeaseRequest request, Place place) {
			CompletionStage<LockAttempt> answer = super.acquire(request, place);
			if (!request.key().equals(LockKey.of("stock", 2))) {
				return answer;
			}
			Executor later = CompletableFuture.delayedExecutor(this.waitTime.toMillis() + 1, TimeUnit.MILLISECONDS);
			return answer.thenApplyAsync((attempt) -> attempt, later);
		}

		@Override
		public Optional<GroupGrant> groupGrant() {
			return Optional.empty();
		}

	}

	/**
	 * An answer to a request for several locks after which the first of them is granted,
	 * and then the thread pauses.
	 */
	private static final class Pause {

		private final Duration length;

		private volatile boolean over;

		Pause(Duration length) {
			this.length = length;
		}

		GroupGrant after(GroupGrant grant) {
			return new GroupGrant() {

				@Override
				public boolean isPossibleFor(Collection<LockKey> keys) {
					return grant.isPossibleFor(keys);
				}

				@Override
				public CompletionStage<List<LockGrant>> acquire(List<LeaseRequest> requests) {
					return grant.acquire(requests).thenApply((grants) -> isOver() ? grants : new Grants(grants));
				}

			};
		}

		boolean isOver() {
			return this.over;
		}

		private void begin() {
			// A permit from an earlier wake-up must not shorten the pause
			long end = System.nanoTime() + this.length.toNanos();
			while (System.nanoTime() - end < 0) {
				LockSupport.parkNanos(end - System.nanoTime());
			}
			this.over = true;
		}

		/** Read once to check the answer, and once more before the locks are granted. */
		private final class Grants extends AbstractList<LockGrant> {

			private final List<LockGrant> grants;

			private int readings;

			private int sizesAfterTheLast = -1;

			Grants(List<LockGrant> grants) {
				this.grants = grants;
			}

			@Override
			public LockGrant get(int index) {
				this.readings += (index == 0) ? 1 : 0;
				this.sizesAfterTheLast = (this.readings == 2 && index == this.grants.size() - 1) ? 0 : -1;
				return this.grants.get(index);
			}

			@Override
			public int size() {
				// Asked at the end of that reading, for the first lock, and for the
				// second one
				if (this.sizesAfterTheLast >= 0 && ++this.sizesAfterTheLast == 3) {
					begin();
				}
				return this.grants.size();
			}

		}

	}

}
