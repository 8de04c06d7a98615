// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Several locks, together or not at all.
 */
class ManyLocksTests extends AbstractInstancesTests {

	private static final List<LockRequest> ALL = Stream.of(3, 1, 2).map((id) -> LockRequest.of("stock", id)).toList();

	private static final List<LockRequest> ALL_NOW = waiting(Duration.ZERO);

	private static final List<LockRequest> SHORT = waiting(Duration.ofSeconds(20)).stream()
		.map((request) -> request.withLeaseTime(Duration.ofSeconds(2)))
		.toList();

	private final DefaultLockRegistry registry = this.instances.registry(this.store);

	private final DefaultLockRegistry other = this.instances.registry();

	@AfterEach
	void nothingIsLeft() {
		assertNothingIsLeft(this.registry);
		assertNothingIsLeft(this.other);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	/** What is released in the background may have to be asked for once more. */
	private void assertNothingIsLeft(DefaultLockRegistry registry) {
		this.time.advance(Duration.ofSeconds(1));
		Awaitility.await().until(() -> registry.activeLocks() == 0 && registry.backgroundActions() == 0);
	}

	@Test
	void freeLocksAreTakenInTheOrderThatIsTheSameEverywhere() {
		try (LeaseSet lease = this.registry.acquireAll(ALL)) {
			assertThat(lease.all()).extracting((each) -> each.key().key()).containsExactly("1", "2", "3");
			assertThat(lease.all()).extracting(Lease::fencingToken).doesNotHaveDuplicates();
			assertThat(lease.isHeld()).isTrue();
			assertThat(lease.remaining()).isPositive();
			for (int id : List.of(1, 2, 3)) {
				assertThat(this.other.tryAcquire(one(id))).isEmpty();
			}
		}
		assertThat(this.store.acquire.calls()).isEqualTo(3);
		assertThat(this.other.tryAcquireAll(ALL_NOW)).hasValueSatisfying(LeaseSet::close);
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
		this.time.awaitParked(1);
		first.close();
		this.time.settle();
		assertThat(this.other.tryAcquire(one(1))).isEmpty();
		last.close();
		waiting.get().close();
		Lease early = this.other.acquire(one(1).withLeaseTime(Duration.ofSeconds(3)));
		try (Lease taken = this.other.acquire(one(3))) {
			Call<LeaseSet> late = Callers.start(() -> this.registry.acquireAll(waiting(Duration.ofSeconds(4))));
			this.time.awaitParked(1);
			this.time.advance(Duration.ofSeconds(4));
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(late::get)
				.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(taken.key()))
				.satisfies((ex) -> assertThat(ex.getWaited()).isEqualTo(Duration.ofSeconds(4)));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(early::close);
		}
		this.time.settle();
		try (Lease taken = this.other.acquire(one(3))) {
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> this.time.letPass(() -> this.registry.acquireAll(waiting(Duration.ofSeconds(1)))))
				.satisfies((ex) -> assertThat(ex.getWaited()).isEqualTo(Duration.ofSeconds(1)));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 3 })
	void anInterruptEndsTheWaitForAnAnswerThatNeverComes(int silent) throws Exception {
		AtomicInteger requests = new AtomicInteger();
		CountDownLatch asked = new CountDownLatch(silent);
		DefaultLockRegistry registry = this.instances.registry(new DirectStore(this.store) {

			@Override
			protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
				CompletionStage<T> answer = request.get();
				if (kind != Request.ACQUIRE) {
					return answer;
				}
				asked.countDown();
				return (requests.incrementAndGet() < silent) ? answer : new CompletableFuture<>();
			}

		});
		Call<LeaseSet> waiting = Callers.start(() -> registry.acquireAll(ALL));
		Callers.await(asked);
		waiting.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(waiting::get);
		// The answer may still come, so the release is repeated
		this.time.advance(EngineSettings.DEFAULTS.leaseTime());
		assertNothingIsLeft(registry);
	}

	@Test
	void anInterruptEndsTheWaitAndReleasesWhatWasAcquired() throws Exception {
		try (Lease taken = this.other.acquire(one(3))) {
			Call<LeaseSet> waiting = Callers.start(() -> this.registry.acquireAll(ALL));
			this.time.awaitParked(1);
			waiting.thread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(waiting::get);
			assertThat(this.other.tryAcquire(one(1))).hasValueSatisfying(Lease::close);
		}
	}

	/**
	 * A database in an outage may block each of the releases for seconds.
	 */
	@Test
	void aReleaseThatBlocksKeepsNoCallerBeyondItsWait() throws Exception {
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch asked = new CountDownLatch(1);
		this.store.release.loseRequests(() -> {
			asked.countDown();
			Callers.await(answer);
			return false;
		});
		Lease taken = this.other.acquire(one(3));
		Call<LeaseSet> waiting = Callers.start(() -> this.registry.acquireAll(ALL));
		this.time.awaitParked(1);
		waiting.thread().interrupt();
		Callers.await(asked);
		Awaitility.await().until(() -> {
			this.time.advance(Answers.OWN);
			return !waiting.thread().isAlive();
		});
		answer.countDown();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(waiting::get);
		taken.close();
	}

	@Test
	void aLockThatIsNamedTwiceIsTakenOnceInTheStrongerMode() {
		LockRequest read = one(1).withMode(LockMode.READ);
		try (LeaseSet lease = this.registry.acquireAll(List.of(read, one(1), one(2).withMode(LockMode.READ)))) {
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
		this.store.acquire.loseAnswers(() -> this.store.acquire.calls() % 2 == 0);
		// A lock that is not released is held for longer than the wait time
		Duration leaseTime = Duration.ofMinutes(1);
		DefaultLockRegistry unlucky = registry(this.store, leaseTime);
		try (LeaseSet lease = this.time.letPass(() -> unlucky.acquireAll(ALL))) {
			assertThat(lease.isHeld()).isTrue();
		}
		this.time.letPass(() -> this.other.acquireAll(ALL).close());
		// What may still be granted is released for as long
		this.time.advance(leaseTime);
		assertNothingIsLeft(unlucky);
	}

	@Test
	void aWaiterForOneOfThemIsServedAfterwards() throws Exception {
		LeaseSet all = this.registry.acquireAll(ALL);
		Call<Lease> here = Callers.start(() -> this.registry.acquire(one(1).withWaitTime(Duration.ofSeconds(20))));
		Call<Lease> there = Callers.start(() -> this.other.acquire(one(2).withWaitTime(Duration.ofSeconds(20))));
		this.time.awaitParked(2);
		all.close();
		here.get().close();
		there.get().close();
	}

	@Test
	void theLossOfOneIsTheLossOfAll() {
		Duration leaseTime = Duration.ofSeconds(3);
		DefaultLockRegistry renewing = registry(this.store, leaseTime);
		LeaseSet lease = renewing.acquireAll(ALL);
		List<LockLostException> losses = new CopyOnWriteArrayList<>();
		lease.onLost(losses::add);
		this.memory.clear();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(losses).hasSize(1);
		assertThat(lease.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld);
		assertThat(this.events).filteredOn(LockEvent.Lost.class::isInstance).hasSize(3);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isNotEmpty());
		assertThat(losses).hasSize(1);
		this.time.advance(leaseTime);
		assertNothingIsLeft(renewing);
	}

	@Test
	void aLeaseThatCannotBeClosedKeepsNoOtherOneOpen() {
		List<Lease> acquired = this.registry.acquireAll(ALL).all();
		Lease failing = (Lease) Proxy.newProxyInstance(Lease.class.getClassLoader(), new Class<?>[] { Lease.class },
				(proxy, method, arguments) -> {
					throw new IllegalStateException("it is a test");
				});
		List<Lease> leases = List.of(acquired.get(0), failing, acquired.get(1), acquired.get(2));
		assertThatIllegalStateException().isThrownBy(() -> new HeldLeases(leases, CompletableFuture::runAsync).close());
		assertThat(acquired).noneMatch(Lease::isHeld);
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
	void theOrderOfLocksIsThatOfTheirNamesAndKeys() {
		List<LockRequest> sorted = MultiLockAcquisition.inOrder(List.of(LockRequest.of("b", 1), LockRequest.of("a", 2),
				LockRequest.of("a", 10), LockRequest.of("c"), LockRequest.of("a", 2)));
		assertThat(sorted).extracting((request) -> request.key().text()).containsExactly("a:10", "a:2", "b:1", "c");
	}

	@Test
	void thereIsOneWaitTimeForAllLocks() {
		LockRequest waiting = LockRequest.of("stock", 1).withWaitTime(Duration.ofSeconds(1));
		LockRequest other = LockRequest.of("stock", 2);
		assertThat(MultiLockAcquisition.inOrder(List.of(other, waiting))).containsExactly(waiting, other);
		LockRequest same = other.withWaitTime(Duration.ofSeconds(1));
		assertThat(MultiLockAcquisition.inOrder(List.of(same, waiting))).containsExactly(waiting, same);
		LockRequest once = LockRequest.of("stock", 1);
		assertThat(MultiLockAcquisition.inOrder(List.of(once, waiting))).containsExactly(waiting);
		assertThat(MultiLockAcquisition.inOrder(List.of(waiting, once.withMode(LockMode.FAIR))))
			.containsExactly(waiting.withMode(LockMode.FAIR));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.registry.acquireAll(List.of(waiting, other.withWaitTime(Duration.ZERO))))
			.withMessage("There is one wait time for all locks of a set, but that of lock 'stock:2' is PT0S, and that"
					+ " of lock 'stock:1' is PT1S");
	}

	@Test
	void theStrongerOfTwoRequestsForOneLockCounts() {
		LockRequest request = LockRequest.of("stock", 1);
		LockRequest read = request.withMode(LockMode.READ);
		LockRequest fair = request.withMode(LockMode.FAIR).withLeaseTime(Duration.ofSeconds(1));
		assertThat(MultiLockAcquisition.inOrder(List.of(read, request))).containsExactly(request);
		assertThat(MultiLockAcquisition.inOrder(List.of(request, read))).containsExactly(request);
		assertThat(MultiLockAcquisition.inOrder(List.of(read, fair, request))).containsExactly(fair);
	}

	@Test
	void aLockHasOneOwner() {
		LockRequest mine = LockRequest.of("stock", 1).withOwner("me");
		assertThat(MultiLockAcquisition.inOrder(List.of(mine, mine))).containsExactly(mine);
		assertThat(MultiLockAcquisition.inOrder(List.of(mine, LockRequest.of("stock", 2).withOwner("you")))).hasSize(2);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.registry.acquireAll(List.of(mine, mine.withOwner("you"))))
			.withMessage("Lock 'stock:1' cannot be acquired on behalf of two owners together");
	}

	@Test
	void thereAreAtLeastOneAndAtMostAThousandLocks() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAll(List.of()))
			.withMessage("A set of locks must not be empty");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAllAsync(List.of()));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LockTemplate(this.registry).execute(List.of(), (leases) -> 1));
		List<LockRequest> most = IntStream.range(0, 1000).mapToObj((id) -> LockRequest.of("stock", id)).toList();
		List<LockRequest> twice = IntStream.range(0, 2000).mapToObj((i) -> most.get(i % 1000)).toList();
		assertThat(MultiLockAcquisition.inOrder(twice)).hasSize(1000);
		List<LockRequest> tooMany = IntStream.range(0, 1001).mapToObj((id) -> LockRequest.of("stock", id)).toList();
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAll(tooMany))
			.withMessage("At most 1000 locks can be acquired together, but these are 1001");
	}

	@Test
	void aSetOfOneLockIsASetAsWell() throws Exception {
		List<LockRequest> single = List.of(one(1));
		try (LeaseSet leases = this.registry.acquireAll(single)) {
			assertThat(leases).isNotInstanceOf(Lease.class);
			assertThat(leases.all()).extracting(Lease::key).containsExactly(LockKey.of("stock", 1));
			assertThat(this.other.tryAcquireAll(single)).isEmpty();
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.other.acquireAll(single));
		}
		this.registry.acquireAllAsync(single).get(20, TimeUnit.SECONDS).close();
	}

	@Test
	void aTemplateRunsUnderAllAndKeepsThoseThatItShould() {
		Duration keeping = Duration.ofSeconds(30);
		List<LockRequest> kept = List.of(one(1).withHoldAtLeast(keeping), one(2));
		int locks = new LockTemplate(this.registry).execute(kept, (leases) -> LeaseSet.current().all().size());
		assertThat(locks).isEqualTo(2);
		assertThat(this.other.tryAcquire(one(1))).isEmpty();
		assertThat(this.other.tryAcquire(one(2))).hasValueSatisfying(Lease::close);
		this.time.advance(keeping.minusNanos(1));
		assertThat(this.memory.isEmpty()).isFalse();
		this.time.advance(Duration.ofNanos(1));
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void severalLocksAreTakenTogetherWithoutAThread() throws Exception {
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
	void freeLocksAreTakenWithoutAThread() throws Exception {
		try (LeaseSet lease = this.registry.acquireAllAsync(ALL).get(20, TimeUnit.SECONDS)) {
			assertThat(lease.all()).hasSize(3).allMatch(Lease::isHeld);
		}
		assertThat(this.store.acquire.calls()).isEqualTo(3);
	}

	@Test
	void aLockThatIsGrantedAfterTheFutureWasCancelledIsReleasedAsWell() {
		CompletableFuture<CompletableFuture<LeaseSet>> begun = new CompletableFuture<>();
		this.store.acquire.loseAnswers(() -> {
			if (this.store.acquire.calls() == 3) {
				begun.join().cancel(false);
			}
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
		List<LockRequest> thousand = IntStream.range(0, 1000)
			.mapToObj((id) -> LockRequest.of("stock", id).withOwner("me"))
			.toList();
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
	void parallelRequestsOfOneOwnerShareTheLocksThatTheLastOfThemReleases() throws Exception {
		List<LockRequest> all = IntStream.range(0, 3)
			.mapToObj((id) -> LockRequest.of("stock", id).withOwner("me"))
			.toList();
		Lease before = this.other.acquire(all.get(0));
		CompletableFuture<LeaseSet> one = this.registry.acquireAllAsync(all);
		CompletableFuture<LeaseSet> other = this.registry.acquireAllAsync(all);
		this.time.settle();
		before.close();
		try (LeaseSet last = other.get(20, TimeUnit.SECONDS)) {
			one.get(20, TimeUnit.SECONDS).close();
			assertThat(last.isHeld()).isTrue();
		}
		assertThat(this.registry.activeLocks()).isZero();
	}

	@Test
	void cancellingTheFutureDoesNotWaitForTheStore() throws Exception {
		CountDownLatch answer = new CountDownLatch(1);
		try (Lease taken = this.other.acquire(one(2))) {
			CompletableFuture<LeaseSet> future = this.registry.acquireAllAsync(ALL);
			this.time.settle();
			assertThat(this.other.tryAcquire(one(1))).isEmpty();
			this.store.release.loseRequests(() -> {
				Callers.await(answer);
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
		List<LockRequest> thousand = IntStream.range(0, 1000).mapToObj((id) -> LockRequest.of("stock", id)).toList();
		try (LeaseSet lease = this.registry.acquireAll(thousand)) {
			assertThat(lease.all()).hasSize(1000);
		}
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
					try (LeaseSet lease = jvm
						.acquireAll(ids.stream().map((id) -> LockRequest.of("count", id)).toList())) {
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
		assertThat(others).allSatisfy((lease) -> assertThat(lease).succeedsWithin(Duration.ofSeconds(20)));
		List<CompletableFuture<Void>> bodies = others.stream().map((other) -> other.thenAcceptAsync((lease) -> {
			try (lease) {
				this.registry.acquire(LockRequest.of("stock", 1)).close();
			}
		})).toList();
		assertThat(leases.closeAsync()).succeedsWithin(Duration.ofSeconds(20));
		assertThat(bodies).allSatisfy((body) -> assertThat(body).succeedsWithin(Duration.ofSeconds(20)));
	}

	@Test
	void aLockThatIsLostDuringTheWaitForAnotherIsAcquiredAgain() throws Exception {
		Lease second = this.other.acquire(one(2));
		Call<Boolean> call = Callers.start(() -> {
			try (LeaseSet leases = this.registry.acquireAll(SHORT)) {
				return leases.isHeld();
			}
		});
		this.time.awaitParked(1);
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
		this.time.settle();
		loseFirst(second);
		assertThat(held).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(true);
	}

	/** Let the first lock expire, and then let the wait for the second one end. */
	private void loseFirst(Lease second) {
		assertThat(this.store.acquire.calls()).isGreaterThan(1);
		Lease first = this.time.letPass(() -> this.other.acquire(LockRequest.of("stock", 1)));
		second.close();
		first.close();
	}

	@Test
	void aLockThatIsLostDuringTheWholeWaitTimeCountsAsContended() throws Exception {
		Duration waitTime = Duration.ofSeconds(2);
		// The store grants readers one by one only
		List<LockRequest> request = List.of(
				LockRequest.of("stock", 1).withLeaseTime(Duration.ofSeconds(1)).withWaitTime(waitTime),
				LockRequest.of("stock", 2).withMode(LockMode.READ));
		Lease second = this.other.acquire(one(2));
		Call<LeaseSet> call = Callers.start(() -> this.registry.acquireAll(request));
		this.time.awaitParked(1);
		releaseAtTheEndOf(waitTime, second);
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(call::get)
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(LockKey.of("stock", 1)))
			.satisfies((ex) -> assertThat(ex.getWaited()).isEqualTo(waitTime));
		second = this.other.acquire(one(2));
		CompletableFuture<LeaseSet> future = this.registry.acquireAllAsync(request);
		this.time.settle();
		releaseAtTheEndOf(waitTime, second);
		assertThat(future).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(LockContendedException.class);
	}

	/** The answer to the last request takes the rest of the time. */
	private void releaseAtTheEndOf(Duration waitTime, Lease lease) {
		this.time.advance(waitTime.minusNanos(1));
		this.store.acquire.loseAnswers(() -> {
			this.store.acquire.loseAnswers(() -> false);
			this.time.advance(Duration.ofNanos(1));
			return false;
		});
		lease.close();
	}

	private static boolean close(Lease lease) {
		lease.close();
		return true;
	}

	private static List<LockRequest> waiting(Duration waitTime) {
		return ALL.stream().map((request) -> request.withWaitTime(waitTime)).toList();
	}

	private static LockRequest one(int id) {
		return LockRequest.of("stock", id).withWaitTime(Duration.ZERO);
	}

	private DefaultLockRegistry registry(LockStore store, Duration leaseTime) {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		EngineSettings settings = new EngineSettings(defaults.waitTime(), leaseTime, defaults.renewalsPerLease(),
				defaults.pollInterval(), defaults.pollIntervalWithoutMessages(), defaults.timeSlice(),
				defaults.shutdownTimeout());
		return this.instances.registry(store, settings, this.events::add);
	}

}
