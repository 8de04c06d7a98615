// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Several instances of an application, each a registry over a store of its own, and a
 * lock that no other test uses. A test is skipped if it needs a capability that the store
 * does not declare.
 */
abstract class RegistryHarness {

	/**
	 * A waiter asks a last time at its end, so it is longer than a test waits for a
	 * {@link Call}.
	 */
	private static final Duration WAIT_TIME = Duration.ofSeconds(45);

	/** A machine that stands still for seconds is no outage, and none is tested here. */
	private static final Duration OUTAGE_TIME = WAIT_TIME;

	/** A waiter that no message reaches asks too late. */
	private static final Duration POLL_INTERVAL = Duration.ofMinutes(1);

	/** A lock that is not released stays held. */
	static final Duration LEASE_TIME = Duration.ofMinutes(2);

	private static final AtomicLong lastKey = new AtomicLong();

	private final List<Instance> instances = new ArrayList<>();

	final LockRequest request = unusedLock();

	Instance one;

	Instance two;

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

	final Instance startInstance() {
		return startInstance(LEASE_TIME);
	}

	/**
	 * Start an instance.
	 * @param leaseTime the length of a lease that is renewed
	 */
	final Instance startInstance(Duration leaseTime) {
		ObservedStore store = new ObservedStore(createStore());
		boolean hasLine = store.waitingLine() != WaitingLine.NONE;
		EngineSettings settings = new EngineSettings(WAIT_TIME, leaseTime, EngineSettings.MAX_RENEWALS_PER_LEASE,
				POLL_INTERVAL, hasLine ? POLL_INTERVAL : EngineSettings.DEFAULTS.pollIntervalWithoutMessages(),
				EngineSettings.DEFAULTS.timeSlice(), Duration.ZERO, OUTAGE_TIME);
		Instance instance = new Instance(store, new DefaultLockRegistry(store, settings, LockListener.NO_OP));
		this.instances.add(instance);
		if (hasLine) {
			LockRequest other = unusedLock();
			await().until(() -> {
				instance.acquire(other).close();
				return store.isListening();
			});
		}
		return instance;
	}

	static LockRequest unusedLock() {
		return LockRequest.of("registry-contract", lastKey.incrementAndGet());
	}

	final void assumeMode(LockMode mode) {
		assumeTrue(this.one.store().modes().contains(mode), () -> "The store has no mode " + mode);
	}

	final void assumeWaitingLine() {
		assumeTrue(this.one.hasWaitingLine(), "The store has no waiting line");
	}

	/**
	 * Check that the withdrawn waiters of other instances have left nothing behind: the
	 * lock that the first instance holds passes to the next owner.
	 */
	final void assertNobodyWaitsFor(Lease held) {
		LockKey key = held.key();
		if (this.one.hasWaitingLine()) {
			await().until(() -> !new StoreClient(this.one.store()).isAwaited(key));
		}
		held.close();
		startInstance().acquire(LockRequest.of(key)).close();
		this.one.acquire(LockRequest.of(key)).close();
	}

	/**
	 * Wait for a condition, with a short poll interval, because each test waits several
	 * times.
	 */
	static ConditionFactory await() {
		return Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(5));
	}

	/**
	 * An instance of an application.
	 */
	record Instance(ObservedStore store, DefaultLockRegistry registry) {

		boolean hasWaitingLine() {
			return this.store.waitingLine() != WaitingLine.NONE;
		}

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

}
