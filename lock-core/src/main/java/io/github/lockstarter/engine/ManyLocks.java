// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;

/**
 * Acquires several locks together or not at all. If all of them are free and the store
 * can grant them in one step, one request is enough. Otherwise they are acquired one by
 * one in an order that is the same in all instances, so that no two acquisitions wait for
 * each other.
 */
final class ManyLocks {

	private static final Log logger = LogFactory.getLog(ManyLocks.class);

	private final List<LockRequest> requests;

	private final Duration waitTime;

	private final BiFunction<List<LockRequest>, Duration, CompletableFuture<@Nullable List<Lease>>> atOnce;

	private final Function<LockRequest, CompletableFuture<Lease>> one;

	private final Executor tasks;

	private final Executor returns;

	private final long start = System.nanoTime();

	private final FutureLease<LeaseSet> result;

	/** Guarded by this. */
	private final List<Lease> leases = new ArrayList<>();

	/** Guarded by this. */
	private @Nullable CompletableFuture<Lease> awaited;

	/**
	 * Create an acquisition.
	 * @param requests one for each lock, in the order that is the same in all instances
	 * @param waitTime the wait time for all locks together
	 * @param atOnce acquires free locks in one step within a wait time, or returns
	 * {@code null}
	 * @param one acquires one lock; it blocks for {@link #await()}, and never for
	 * {@link #begin()}
	 * @param tasks runs what asks for the locks
	 * @param bodies runs what callers do with the leases
	 * @param returns runs what releases the locks
	 */
	ManyLocks(List<LockRequest> requests, Duration waitTime,
			BiFunction<List<LockRequest>, Duration, CompletableFuture<@Nullable List<Lease>>> atOnce,
			Function<LockRequest, CompletableFuture<Lease>> one, Executor tasks, Executor bodies, Executor returns) {
		this.requests = requests;
		this.waitTime = waitTime;
		this.atOnce = atOnce;
		this.one = one;
		this.tasks = tasks;
		this.returns = returns;
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
				this.returns.execute(this::stop);
			}
		});
		this.tasks.execute(this::acquire);
		return this.result;
	}

	/**
	 * Acquire the locks on the current thread, which waits for each of them.
	 */
	LeaseSet await() {
		acquire();
		try {
			return this.result.join();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof Error error) {
				throw error;
			}
			throw (ex.getCause() instanceof RuntimeException failure) ? failure : ex;
		}
	}

	private void acquire() {
		try {
			CompletableFuture<@Nullable List<Lease>> granted = this.result.isDone()
					? CompletableFuture.completedFuture(List.of()) : this.atOnce.apply(this.requests, this.waitTime);
			granted.whenComplete(this::triedAtOnce);
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
		else if (keep(granted)) {
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
				if (!keep(List.of(lease.join()))) {
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
		if (lease != null) {
			if (keep(List.of(lease))) {
				acquireFrom(next);
			}
			return;
		}
		fail(RootCause.unwrap(failure));
	}

	private Duration waited() {
		return Duration.ofNanos(System.nanoTime() - this.start);
	}

	/** Fail after all locks are released, so that the caller finds no lock held. */
	private void fail(@Nullable Throwable failure) {
		stop();
		Throwable cause = (failure != null) ? failure : new CancellationException();
		this.result.completeExceptionally((cause instanceof LockContendedException contention)
				? new LockContendedException(contention.getKey(), waited()) : cause);
	}

	private synchronized boolean awaits(CompletableFuture<Lease> lease) {
		this.awaited = lease;
		return !this.result.isDone();
	}

	private boolean keep(List<Lease> granted) {
		synchronized (this) {
			if (!this.result.isDone()) {
				return this.leases.addAll(granted);
			}
		}
		releaseAll(granted);
		return false;
	}

	private void complete() {
		if (!this.result.complete(new HeldLeases(List.copyOf(this.leases), this.returns))) {
			stop();
		}
	}

	/**
	 * Stop waiting. A lease that is granted later finds the result done and is closed.
	 */
	private void stop() {
		List<Lease> granted;
		CompletableFuture<Lease> awaited;
		synchronized (this) {
			granted = List.copyOf(this.leases);
			this.leases.clear();
			awaited = this.awaited;
		}
		if (awaited != null) {
			awaited.cancel(false);
		}
		releaseAll(granted);
	}

	/**
	 * Release the acquired locks, because not all could be acquired.
	 */
	static void releaseAll(List<Lease> leases) {
		try {
			new HeldLeases(List.copyOf(leases), Runnable::run).close();
		}
		catch (LockLostException ex) {
			logger.debug("A lock was lost while waiting for others", ex);
		}
	}

}
