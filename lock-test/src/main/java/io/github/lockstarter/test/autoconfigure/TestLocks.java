// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockKeeping;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.DelegatingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.test.RecordingLockListener;

/**
 * The locks of an application in a test with {@link AutoConfigureDistributedLocks}: it
 * lets other instances hold them, or the application lose them, and records what happens
 * to them for {@link io.github.lockstarter.test.LockAssertions}. What it does concerns
 * the locks of all registries. Each test begins without events, and what the one before
 * it has left open, or kept by {@code holdAtLeast}, has ended. What is begun in
 * {@code @BeforeAll} lasts until it is closed.
 *
 * <p>
 * Time stands still for the locks: no lease expires and no wait ends unless the test
 * {@linkplain #advance moves} it. While a lock is held elsewhere, or during an outage,
 * time passes for the thread that has begun it, so a call on that thread which waits in
 * vain fails at once. So does a request without a thread, such as a future, while that
 * thread waits for its result.
 */
public final class TestLocks extends RecordingLockListener {

	private static final String ELSEWHERE = "elsewhere";

	private static final Duration LEASE = Duration.ofSeconds(30);

	/** Longer than any pause before a store that did not answer is asked again. */
	private static final Duration RETRY = Duration.ofSeconds(2);

	/** In real time. */
	private static final long GLANCE = Duration.ofMillis(1).toNanos();

	private final ManualTime time;

	private final List<Store> stores = new CopyOnWriteArrayList<>();

	/** In the order of their beginnings. */
	private final List<Situation> open = new CopyOnWriteArrayList<>();

	/** By the other instance. */
	private final List<LeaseRequest> held = new CopyOnWriteArrayList<>();

	/** Of outages. */
	private final Set<Object> outages = ConcurrentHashMap.newKeySet();

	/** Whether a request was refused since the last situation has begun. */
	private volatile boolean refused;

	/** Begun outside of a test. */
	private volatile List<Situation> lasting = List.of();

	TestLocks(ManualTime time) {
		this.time = time;
	}

	/**
	 * Let another instance of the application, with the name {@code elsewhere}, hold a
	 * lock.
	 * @return to be closed when the other instance releases the lock
	 * @throws IllegalStateException if the lock is held already
	 */
	public Situation heldElsewhere(String name, Object key) {
		return heldElsewhere(LockKey.of(name, key));
	}

	/**
	 * Let another instance of the application, with the name {@code elsewhere}, hold a
	 * lock.
	 * @return to be closed when the other instance releases the lock
	 * @throws IllegalStateException if the lock is held already
	 */
	public Situation heldElsewhere(LockKey lock) {
		return heldElsewhere(lock, LockMode.EXCLUSIVE);
	}

	/**
	 * Let another instance of the application, with the name {@code elsewhere}, hold a
	 * lock in some mode.
	 * @param mode {@link LockMode#READ} to share it with readers of this application
	 * @return to be closed when the other instance releases the lock
	 * @throws IllegalStateException if the lock is held already
	 */
	public Situation heldElsewhere(LockKey lock, LockMode mode) {
		LeaseRequest request = new LeaseRequest(lock, OwnerToken.random(ELSEWHERE, mode), LockStore.LONGEST_LEASE);
		Runnable release = () -> {
			this.held.remove(request);
			this.stores.forEach((store) -> store.elsewhere.release(lock, request.owner()));
		};
		if (!this.stores.stream().allMatch((store) -> store.hold(request))) {
			release.run();
			throw new IllegalStateException(
					"No other instance can hold lock '" + lock + "', because it is held already");
		}
		this.held.add(request);
		return begin(release);
	}

	/**
	 * Let this application lose a lock that it holds, and let its owner know.
	 * @throws IllegalStateException if it does not hold the lock
	 */
	public void lose(String name, Object key) {
		lose(LockKey.of(name, key));
	}

	/**
	 * Let this application lose a lock that it holds, and let its owner know.
	 * @throws IllegalStateException if it does not hold the lock
	 */
	public void lose(LockKey lock) {
		List<Store> losers = this.stores.stream().filter((store) -> store.lose(lock)).toList();
		if (losers.isEmpty()) {
			throw new IllegalStateException(
					"Lock '" + lock + "' cannot be lost, because this application does not hold it");
		}
		losers.forEach((store) -> store.interrupted.run());
		advance(Duration.ZERO);
	}

	/**
	 * Let no store answer.
	 * @return to be closed when they answer again: two seconds pass, in which those that
	 * still wait ask again
	 */
	public Situation outage() {
		Object outage = new Object();
		this.outages.add(outage);
		return begin(() -> {
			this.outages.remove(outage);
			advance(RETRY);
		});
	}

	/**
	 * Move the time: waits end, leases expire, and those that are renewed are renewed.
	 */
	public void advance(Duration duration) {
		this.time.advance(duration);
	}

	/**
	 * Wait until exactly some number of threads wait for locks, before the time is moved,
	 * or a lock is released elsewhere. A future or a {@code Mono} waits without a thread.
	 */
	public void awaitWaiting(int threads) {
		this.time.awaitParked(threads);
	}

	private Situation begin(Runnable end) {
		this.refused = false;
		ManualTime.Passing passing = this.time.letPass();
		Situation situation = new Situation(this.open, () -> {
			passing.close();
			end.run();
		});
		this.open.add(situation);
		Thread caller = Thread.currentThread();
		Callers.start(() -> watch(situation, caller));
		return situation;
	}

	/** A thread that waits for a future does not know that this is in vain. */
	private boolean watch(Situation situation, Thread caller) {
		while (this.open.contains(situation)) {
			LockSupport.parkNanos(GLANCE);
			if (this.refused) {
				this.time.passWhileWaiting(caller);
			}
		}
		return true;
	}

	/**
	 * Forget what has happened and what is kept.
	 */
	void beginTest() {
		this.lasting = List.copyOf(this.open);
		this.stores.forEach(Store::freeKept);
		clear();
	}

	/**
	 * Close what the test has left open.
	 */
	void endTest() {
		this.open.stream().filter((each) -> !this.lasting.contains(each)).forEach(Situation::close);
	}

	LockStore createStore() {
		LockMemory memory = new LockMemory(this.time);
		Store store = new Store(new MemoryLockStore(memory), new MemoryLockStore(memory));
		this.held.forEach(store::hold);
		this.stores.add(store);
		return store;
	}

	/**
	 * Lets no test see what the one before it has done to the locks of the application
	 * context that they share.
	 */
	static class Listener implements TestExecutionListener {

		@Override
		public void beforeTestMethod(TestContext test) {
			tell(test, TestLocks::beginTest);
		}

		@Override
		public void afterTestMethod(TestContext test) {
			tell(test, TestLocks::endTest);
		}

		private static void tell(TestContext test, Consumer<TestLocks> message) {
			if (test.hasApplicationContext()) {
				// No other bean is created to be looked at, unlike with ifAvailable
				test.getApplicationContext().getBeanProvider(TestLocks.class, false).stream().forEach(message);
			}
		}

	}

	/**
	 * The store of one registry.
	 */
	private final class Store extends DelegatingStore {

		/** The same locks, as another instance sees them. */
		private final LockStore elsewhere;

		/** What is kept without an owner, and its fencing token. */
		private final Map<LockKey, Long> kept = new ConcurrentHashMap<>();

		private volatile Runnable interrupted = () -> {
		};

		private Store(LockStore here, LockStore elsewhere) {
			super(here);
			this.elsewhere = elsewhere;
		}

		/**
		 * Let the other instance hold a lock.
		 * @return whether it does
		 */
		private boolean hold(LeaseRequest request) {
			return this.elsewhere.acquire(request, false).toCompletableFuture().join() instanceof AcquireResult.Grant;
		}

		/** The other instance renews its lease for as long as it holds the lock. */
		@Override
		public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
			return super.acquire(request, wait)
				.thenApply((attempt) -> (attempt instanceof AcquireResult.Refusal refusal
						&& ELSEWHERE.equals(refusal.holder())) ? new AcquireResult.Refusal(LEASE, ELSEWHERE) : attempt)
				.whenComplete((attempt, ex) -> {
					if (!(attempt instanceof AcquireResult.Grant)) {
						TestLocks.this.refused = true;
					}
				});
		}

		@Override
		public Optional<LockKeeping> keeping() {
			return super.keeping().map((keeping) -> (key, owner, time) -> {
				this.kept.put(key, inspect(key).fencingToken());
				return keeping.keep(key, owner, time);
			});
		}

		private void freeKept() {
			this.kept.forEach(this::free);
			this.kept.clear();
		}

		@Override
		protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
			return TestLocks.this.outages.isEmpty() ? request.get() : outage();
		}

		private <T> CompletionStage<T> outage() {
			return CompletableFuture.failedFuture(new IllegalStateException("A test wants an outage"));
		}

		@Override
		public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
			if (TestLocks.this.outages.isEmpty()) {
				return super.renew(requests);
			}
			List<CompletionStage<Boolean>> answers = new ArrayList<>(requests.size());
			requests.forEach((request) -> answers.add(outage()));
			return answers;
		}

		/**
		 * Take a lock from its owners in this application.
		 * @return whether it had any
		 */
		private boolean lose(LockKey lock) {
			return inspect(lock).holders()
				.stream()
				.filter((holder) -> !holder.name().equals(ELSEWHERE))
				.map(LockInspection.Holder::fencingToken)
				.filter((token) -> token != null && free(lock, token))
				.count() > 0;
		}

		private LockInspection.State inspect(LockKey lock) {
			return this.elsewhere.inspection().orElseThrow().inspect(lock).toCompletableFuture().join();
		}

		private boolean free(LockKey lock, long token) {
			return this.elsewhere.inspection().orElseThrow().free(lock, token).toCompletableFuture().join();
		}

		@Override
		public void onInterruption(Runnable task) {
			this.interrupted = task;
		}

	}

}
