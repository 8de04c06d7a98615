// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;

/**
 * Acquires several locks together or not at all: one after another within one wait time,
 * in an order that is the same in all instances, so that no two acquisitions wait for
 * each other. If one of them cannot be acquired, the others are released.
 */
final class MultiLockAcquisition {

	private static final int MAX_LOCKS = 1000;

	private final Time time;

	private final long start;

	private final List<LockRequest> requests;

	private final Duration waitTime;

	private final Function<LockRequest, CompletableFuture<Lease>> one;

	private final Function<Runnable, CompletableFuture<Void>> returns;

	private final Function<Runnable, CompletableFuture<Void>> releases;

	private final FutureLease<LeaseSet> result;

	/** Guarded by this. */
	private final List<Lease> leases = new ArrayList<>();

	private volatile @Nullable CompletableFuture<Lease> awaited;

	/**
	 * Create an acquisition whose wait time begins now.
	 * @param requests one for each lock, in the order that is the same in all instances
	 * @param waitTime the wait time for all locks together
	 * @param one acquires one lock; it may block for {@link #await()}, and never for
	 * {@link #begin()}
	 * @param bodies runs what callers do with the leases, or how they fail
	 * @param returns releases locks for a caller that must not block
	 * @param releases releases locks for a caller that waits for it, until it has taken
	 * too long
	 */
	MultiLockAcquisition(Time time, List<LockRequest> requests, Duration waitTime,
			Function<LockRequest, CompletableFuture<Lease>> one, Executor bodies,
			Function<Runnable, CompletableFuture<Void>> returns, Function<Runnable, CompletableFuture<Void>> releases) {
		this.time = time;
		this.start = time.now();
		this.requests = requests;
		this.waitTime = waitTime;
		this.one = one;
		this.returns = returns;
		this.releases = releases;
		this.result = new FutureLease<>(bodies);
	}

	/**
	 * Begin without blocking the current thread.
	 * @return the future leases; completing the future in another way ends the wait
	 */
	CompletableFuture<LeaseSet> begin() {
		this.result.whenComplete((leases, ex) -> {
			if (!(leases instanceof HeldLeases)) {
				// A caller that cancels the future must not wait for the store
				this.returns.apply(this::stop);
			}
		});
		acquireFrom(0);
		return this.result;
	}

	/**
	 * Acquire the locks on the current thread, which waits for each of them.
	 */
	LeaseSet await() {
		acquireFrom(0);
		return this.result.lease();
	}

	/**
	 * Return requests in the order that is the same in all instances. A lock that is
	 * requested twice is acquired once, in the stronger mode. A wait time is kept.
	 * @param requests requests for one to {@value #MAX_LOCKS} locks
	 * @throws IllegalArgumentException if they cannot be acquired together
	 */
	static List<LockRequest> inOrder(Collection<LockRequest> requests) {
		Map<LockKey, LockRequest> sorted = new TreeMap<>(Comparator.comparing(LockKey::text));
		LockRequest waiting = null;
		for (LockRequest request : requests) {
			if (waiting == null) {
				waiting = (request.waitTime() != null) ? request : null;
			}
			else if (request.waitTime() != null && !request.waitTime().equals(waiting.waitTime())) {
				throw new IllegalArgumentException("There is one wait time for all locks of a set, but that of lock '"
						+ request.key() + "' is " + request.waitTime() + ", and that of lock '" + waiting.key()
						+ "' is " + waiting.waitTime());
			}
			sorted.merge(request.key(), request, MultiLockAcquisition::stronger);
		}
		if (sorted.isEmpty()) {
			throw new IllegalArgumentException("A set of locks must not be empty");
		}
		if (sorted.size() > MAX_LOCKS) {
			throw new IllegalArgumentException(
					"At most " + MAX_LOCKS + " locks can be acquired together, but these are " + sorted.size());
		}
		return List.copyOf(sorted.values());
	}

	private static LockRequest stronger(LockRequest one, LockRequest other) {
		if (!Objects.equals(one.owner(), other.owner())) {
			throw new IllegalArgumentException(
					"Lock '" + one.key() + "' cannot be acquired on behalf of two owners together");
		}
		LockRequest stronger = (strength(other.mode()) > strength(one.mode())) ? other : one;
		Duration waitTime = (one.waitTime() != null) ? one.waitTime() : other.waitTime();
		return (waitTime != null) ? stronger.withWaitTime(waitTime) : stronger;
	}

	private static int strength(LockMode mode) {
		return switch (mode) {
			case READ -> 0;
			case EXCLUSIVE, WRITE -> 1;
			case FAIR -> 2;
		};
	}

	/**
	 * Acquire one lock after another, and all of them anew if one was lost during the
	 * wait for others. A lease that is granted at once needs no callback: a thousand
	 * nested callbacks would overflow the stack.
	 */
	private void acquireFrom(int first) {
		try {
			int next = first;
			while (next < this.requests.size() || mustBeginAgain()) {
				if (next == this.requests.size()) {
					release();
					next = 0;
				}
				CompletableFuture<Lease> lease = request(next++);
				if (!lease.isDone() || lease.isCompletedExceptionally()) {
					int following = next;
					lease.whenComplete((granted, ex) -> answered(granted, ex, following));
					return;
				}
				if (!add(lease.join())) {
					return;
				}
			}
			if (!this.result.complete(new HeldLeases(granted(), this.returns))) {
				stop();
			}
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	private CompletableFuture<Lease> request(int number) {
		LockRequest request = this.requests.get(number);
		Duration left = this.waitTime.minus(waited());
		if (left.isNegative()) {
			if (number > 0 && !this.waitTime.isZero()) {
				throw new LockContendedException(request.key(), waited());
			}
			left = Duration.ZERO;
		}
		CompletableFuture<Lease> lease = this.one.apply(request.withWaitTime(left));
		this.awaited = lease;
		if (this.result.isDone()) {
			lease.cancel(false);
		}
		return lease;
	}

	private void answered(@Nullable Lease lease, @Nullable Throwable failure, int next) {
		if (failure != null) {
			fail(RootCause.unwrap(failure));
		}
		else if (lease != null && add(lease)) {
			acquireFrom(next);
		}
	}

	private boolean mustBeginAgain() {
		for (Lease lease : granted()) {
			if (!lease.isHeld()) {
				if (waited().compareTo(this.waitTime) >= 0) {
					throw new LockContendedException(lease.key(), waited());
				}
				return true;
			}
		}
		return false;
	}

	private Duration waited() {
		return Duration.ofNanos(this.time.now() - this.start);
	}

	/**
	 * Fail when all locks are released, so that the caller finds no lock held, or when
	 * the store has not answered in time.
	 */
	private void fail(Throwable failure) {
		Throwable cause = (failure instanceof LockContendedException contention) ? new LockContendedException(
				contention.getKey(), waited(), contention.getHolder(), contention.getRemaining()) : failure;
		// What depends on the future must not run on the thread that keeps time
		this.releases.apply(this::release)
			.whenCompleteAsync((nothing, ex) -> this.result.completeExceptionally(cause),
					this.result.defaultExecutor());
	}

	/**
	 * Stop waiting. A lease that is granted later finds the result done and is released.
	 */
	private void stop() {
		CompletableFuture<Lease> awaited = this.awaited;
		if (awaited != null) {
			awaited.cancel(false);
		}
		release();
	}

	/**
	 * Add a lease, or release it if the result is known.
	 * @return whether it was added
	 */
	private boolean add(Lease granted) {
		synchronized (this) {
			if (!this.result.isDone()) {
				return this.leases.add(granted);
			}
		}
		HeldLeases.release(List.of(granted));
		return false;
	}

	private synchronized List<Lease> granted() {
		return List.copyOf(this.leases);
	}

	private void release() {
		List<Lease> granted;
		synchronized (this) {
			granted = granted();
			this.leases.clear();
		}
		HeldLeases.release(granted);
	}

}
