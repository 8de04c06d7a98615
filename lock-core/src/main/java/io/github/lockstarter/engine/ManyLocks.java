// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;

/**
 * Acquires several locks together or not at all. If all of them are free and the store
 * can grant them in one step, one request is enough. Otherwise they are acquired one by
 * one in an order that is the same in all instances, so that no two acquisitions wait for
 * each other.
 */
final class ManyLocks {

	private static final int MAX_LOCKS = 1000;

	private final Time time;

	private final List<LockRequest> requests;

	private final Duration waitTime;

	private final BiFunction<List<LockRequest>, Duration, CompletableFuture<@Nullable List<Lease>>> atOnce;

	private final Function<LockRequest, CompletableFuture<Lease>> one;

	private final Executor tasks;

	private final Function<Runnable, CompletableFuture<Void>> returns;

	private final Function<Runnable, CompletableFuture<Void>> releases;

	private final long start;

	private final FutureLease<LeaseSet> result;

	private final GrantedLeases leases;

	private volatile @Nullable CompletableFuture<Lease> awaited;

	private volatile boolean blocking;

	private volatile boolean failing;

	/**
	 * Create an acquisition whose wait time begins now.
	 * @param requests one for each lock, in the order that is the same in all instances
	 * @param waitTime the wait time for all locks together
	 * @param atOnce acquires free locks in one step within a wait time, or returns
	 * {@code null}
	 * @param one acquires one lock; it blocks for {@link #await()}, and never for
	 * {@link #begin()}
	 * @param tasks runs what asks for the locks
	 * @param bodies runs what callers do with the leases
	 * @param returns releases locks for a caller that must not block
	 * @param releases releases locks for a caller that waits for it, until it has taken
	 * too long
	 */
	ManyLocks(Time time, List<LockRequest> requests, Duration waitTime,
			BiFunction<List<LockRequest>, Duration, CompletableFuture<@Nullable List<Lease>>> atOnce,
			Function<LockRequest, CompletableFuture<Lease>> one, Executor tasks, Executor bodies,
			Function<Runnable, CompletableFuture<Void>> returns, Function<Runnable, CompletableFuture<Void>> releases) {
		this.time = time;
		this.start = time.now();
		this.requests = requests;
		this.waitTime = waitTime;
		this.atOnce = atOnce;
		this.one = one;
		this.tasks = tasks;
		this.returns = returns;
		this.releases = releases;
		this.result = new FutureLease<>(bodies);
		this.leases = new GrantedLeases(this.result);
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
		this.tasks.execute(this::acquire);
		return this.result;
	}

	/**
	 * Acquire the locks on the current thread, which waits for each of them.
	 */
	LeaseSet await() {
		this.blocking = true;
		while (!this.result.isDone() && !this.failing) {
			acquire();
		}
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
			sorted.merge(request.key(), request, ManyLocks::stronger);
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

	private void acquire() {
		try {
			if (!this.result.isDone()) {
				this.atOnce.apply(this.requests, this.waitTime.minus(waited())).whenComplete(this::triedAtOnce);
			}
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	private void triedAtOnce(@Nullable List<Lease> granted, @Nullable Throwable failure) {
		if (failure != null) {
			fail(RootCause.unwrap(failure));
		}
		else if (granted == null) {
			acquireFrom(0);
		}
		else if (this.leases.add(granted)) {
			complete();
		}
	}

	/**
	 * Acquire one lock after another. A lease that is granted at once needs no callback:
	 * a thousand nested callbacks would overflow the stack.
	 */
	private void acquireFrom(int first) {
		try {
			for (int i = first; i < this.requests.size(); i++) {
				CompletableFuture<Lease> lease = request(this.requests.get(i), i > 0);
				if (!lease.isDone() || lease.isCompletedExceptionally()) {
					int next = i + 1;
					lease.whenComplete((granted, ex) -> settle(granted, ex, next));
					return;
				}
				if (!this.leases.add(List.of(lease.join()))) {
					return;
				}
			}
			complete();
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	private CompletableFuture<Lease> request(LockRequest request, boolean further) {
		Duration left = this.waitTime.minus(waited());
		if (left.isNegative()) {
			if (further && !this.waitTime.isZero()) {
				throw new LockContendedException(request.key(), waited());
			}
			left = Duration.ZERO;
		}
		CompletableFuture<Lease> lease = this.one.apply(request.withWaitTime(left));
		if (!awaits(lease)) {
			lease.cancel(false);
		}
		return lease;
	}

	private void settle(@Nullable Lease lease, @Nullable Throwable failure, int next) {
		if (lease == null) {
			fail((failure != null) ? RootCause.unwrap(failure) : null);
		}
		else if (this.leases.add(List.of(lease))) {
			acquireFrom(next);
		}
	}

	private Duration waited() {
		return Duration.ofNanos(this.time.now() - this.start);
	}

	/**
	 * Fail when all locks are released, so that the caller finds no lock held, or when
	 * the store has not answered in time.
	 */
	private void fail(@Nullable Throwable failure) {
		Throwable cause = (failure instanceof LockContendedException contention)
				? new LockContendedException(contention.getKey(), waited(), contention.getHolder(),
						contention.getRemaining())
				: (failure != null) ? failure : new CancellationException();
		this.failing = true;
		// What depends on the future must not run on the thread that keeps time
		Executor thread = this.blocking ? Runnable::run : this.result.defaultExecutor();
		this.releases.apply(this::stop)
			.whenCompleteAsync((nothing, ex) -> this.result.completeExceptionally(cause), thread);
	}

	private boolean awaits(CompletableFuture<Lease> lease) {
		this.awaited = lease;
		return !this.result.isDone();
	}

	private void complete() {
		HeldLeases all = new HeldLeases(this.leases.all(), this.returns);
		for (Lease lease : all.all()) {
			if (!lease.isHeld()) {
				beginAgain(lease.key());
				return;
			}
		}
		if (!this.result.complete(all)) {
			stop();
		}
	}

	/**
	 * Acquire all locks anew, because one was lost during the wait for others. A thread
	 * that waits for them does so itself.
	 */
	private void beginAgain(LockKey lost) {
		this.leases.release();
		if (waited().compareTo(this.waitTime) >= 0) {
			fail(new LockContendedException(lost, waited()));
		}
		else if (!this.blocking) {
			this.tasks.execute(this::acquire);
		}
	}

	/**
	 * Stop waiting. A lease that is granted later finds the result done and is closed.
	 */
	private void stop() {
		CompletableFuture<Lease> awaited = this.awaited;
		if (awaited != null) {
			awaited.cancel(false);
		}
		this.leases.release();
	}

}
