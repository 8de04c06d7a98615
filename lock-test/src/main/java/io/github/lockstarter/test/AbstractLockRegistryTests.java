// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The contract of instances of an application that share a {@link LockStore}: what a
 * {@link LockRegistry} promises its callers and needs the store for, with real threads.
 * Each instance is a registry over a store of its own. A test is skipped if it needs a
 * capability that the store does not declare.
 */
public abstract class AbstractLockRegistryTests {

	/**
	 * A waiter asks a last time at its end, so it is longer than a test waits for a
	 * {@link Call}.
	 */
	private static final Duration WAIT_TIME = Callers.PATIENCE.plusMinutes(3);

	/** A machine that stands still for seconds is no outage, and none is tested here. */
	private static final Duration OUTAGE_TIME = WAIT_TIME;

	/** A waiter that no message reaches asks too late. */
	private static final Duration POLL_INTERVAL = WAIT_TIME.plusMinutes(1);

	/** A lock that is not released stays held. */
	private static final Duration LEASE_TIME = POLL_INTERVAL.plusMinutes(1);

	/** Outlasts a machine that stands still twice in a row. */
	private static final Duration RENEWED_LEASE_TIME = Duration.ofSeconds(3);

	private static final int THREADS = 4;

	private static final int HOLDS = 15;

	private static final AtomicLong lastKey = new AtomicLong();

	private final List<Instance> instances = new ArrayList<>();

	private final LockRequest request = unusedLock();

	private Instance one;

	private Instance two;

	/** Guarded by the lock only. */
	private int counter;

	/** Guarded by the lock only; equal to the counter while no writer is at work. */
	private int copy;

	/** Guarded by the lock only. */
	private final List<Long> tokens = new ArrayList<>();

	/**
	 * Return a store for a further instance; all of them keep the same locks. It is
	 * closed after the test if it can be.
	 */
	protected abstract LockStore createStore();

	/**
	 * Return whether several tests get the same stores, which are then not closed after
	 * each of them.
	 */
	protected boolean sharesStores() {
		return false;
	}

	@BeforeEach
	void startInstances() {
		this.one = startInstance();
		this.two = startInstance();
	}

	@AfterEach
	void stopInstances() throws Exception {
		for (Instance instance : this.instances) {
			instance.registry().close();
		}
		for (Instance instance : this.instances) {
			if (!sharesStores()) {
				instance.store().close();
			}
		}
	}

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

	private Instance startInstance() {
		return startInstance(LEASE_TIME);
	}

	/**
	 * Start an instance.
	 * @param leaseTime the length of a lease that is renewed
	 */
	private Instance startInstance(Duration leaseTime) {
		ObservedStore store = new ObservedStore(createStore());
		EngineSettings settings = new EngineSettings(WAIT_TIME, leaseTime, 20, POLL_INTERVAL,
				store.hasWaitingLine() ? POLL_INTERVAL : EngineSettings.DEFAULTS.pollIntervalWithoutMessages(),
				EngineSettings.DEFAULTS.timeSlice(), Duration.ZERO, OUTAGE_TIME);
		Instance instance = new Instance(store, new DefaultLockRegistry(store, settings, LockListener.NO_OP));
		this.instances.add(instance);
		if (store.hasWaitingLine()) {
			LockRequest other = unusedLock();
			await().until(() -> {
				instance.acquire(other).close();
				return store.listening;
			});
		}
		return instance;
	}

	private static LockRequest unusedLock() {
		return LockRequest.of("registry-contract", lastKey.incrementAndGet());
	}

	private void assumeMode(LockMode mode) {
		assumeTrue(this.one.store().modes().contains(mode), () -> "The store has no mode " + mode);
	}

	/**
	 * Check that the withdrawn waiters of other instances have left nothing behind: the
	 * lock that the first instance holds passes to the next owner.
	 */
	private void assertNobodyWaitsFor(Lease held) {
		LockKey key = held.key();
		if (this.one.store().hasWaitingLine()) {
			await().until(() -> new StoreClient(this.one.store()).waiters(key).isEmpty());
		}
		held.close();
		startInstance().acquire(LockRequest.of(key)).close();
		this.one.acquire(LockRequest.of(key)).close();
	}

	/**
	 * Wait for a condition, with a short poll interval, because each test waits several
	 * times.
	 */
	private static ConditionFactory await() {
		return Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(5));
	}

	/**
	 * An instance of an application.
	 */
	private record Instance(ObservedStore store, DefaultLockRegistry registry) {

		Lease acquire(LockRequest request) {
			return this.registry.acquire(request);
		}

		CompletableFuture<Lease> acquireAsync(LockRequest request) {
			return this.registry.acquireAsync(request);
		}

		/**
		 * Check that a caller that does not wait is refused, because another one has the
		 * lock.
		 */
		void assertRefused(LockRequest request) throws Exception {
			SafetyViolation.check(isRefused(request), "'%s' was granted while another owner has it", request.key());
		}

		/**
		 * Check that a caller that does not wait is refused for as long as the holder of
		 * a renewed lease has the lock. That the machine stood still and no renewal came
		 * in time is no second owner.
		 */
		void assertRefused(LockRequest request, Lease held) throws Exception {
			boolean refused = isRefused(request);
			SafetyViolation.check(refused || !held.isHeld(), "'%s' was granted while another owner has it",
					request.key());
			assertThat(refused).as("the lease was renewed in time").isTrue();
		}

		private boolean isRefused(LockRequest request) throws Exception {
			return Callers.start(() -> this.registry.tryAcquire(request.withWaitTime(Duration.ZERO))).get().isEmpty();
		}

		/**
		 * Start a thread that acquires a lock, releases it and returns its fencing token.
		 */
		Call<Long> start(LockRequest request) {
			return Callers.start(() -> {
				try (Lease lease = acquire(request)) {
					return lease.fencingToken();
				}
			});
		}

		/**
		 * Start a thread that waits for a lock that another instance holds, and return
		 * when the store has refused it.
		 */
		Call<Long> startWaiter(LockRequest request) {
			int before = this.store.arrived();
			Call<Long> waiter = start(request);
			awaitArrival(before);
			return waiter;
		}

		/**
		 * Start an asynchronous acquisition of a lock that another instance holds, and
		 * return when the store has refused it.
		 */
		CompletableFuture<Lease> startFuture(LockRequest request) {
			int before = this.store.arrived();
			CompletableFuture<Lease> future = acquireAsync(request);
			awaitArrival(before);
			return future;
		}

		private void awaitArrival(int before) {
			await().until(() -> this.store.arrived() > before);
		}

	}

	/**
	 * The store of an instance, and what it has answered: a test knows from it when a
	 * waiter has arrived there.
	 */
	private static final class ObservedStore extends DelegatingStore {

		private final LockStore delegate;

		/** The owners that were refused, or entered the line. */
		private final Set<OwnerToken> arrived = ConcurrentHashMap.newKeySet();

		private volatile boolean listening;

		ObservedStore(LockStore delegate) {
			super(delegate);
			this.delegate = delegate;
		}

		/**
		 * Return how many owners have waited here so far.
		 */
		int arrived() {
			return this.arrived.size();
		}

		boolean hasWaitingLine() {
			return waitingLine() != WaitingLine.NONE;
		}

		@Override
		public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
			return super.acquire(request, wait).thenApply((attempt) -> {
				if (attempt instanceof AcquireResult.Refusal) {
					this.arrived.add(request.owner());
				}
				return attempt;
			});
		}

		@Override
		protected boolean listen(WaitingLine.Listener listener) {
			this.listening = super.listen(listener);
			return this.listening;
		}

		@Override
		protected CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
			return super.enter(key, owner).thenRun(() -> this.arrived.add(owner));
		}

		void close() throws Exception {
			if (this.delegate instanceof AutoCloseable closeable) {
				closeable.close();
			}
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
