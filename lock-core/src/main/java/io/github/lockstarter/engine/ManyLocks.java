// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;

/**
 * One acquisition of several locks together or not at all. If all of them are free and
 * the store can grant them at once, one request is enough. Otherwise they are acquired
 * one by one in an order that is the same in all instances, so that no two acquisitions
 * wait for each other. A blocking caller waits for the same future as an asynchronous
 * one.
 */
final class ManyLocks {

	private static final Log logger = LogFactory.getLog(ManyLocks.class);

	private final List<LockRequest> requests;

	private final Duration waitTime;

	private final BiFunction<List<LockRequest>, Duration, @Nullable List<Lease>> atOnce;

	private final Function<LockRequest, CompletableFuture<Lease>> one;

	private final Executor tasks;

	private final long start = System.nanoTime();

	private final FutureLease<LeaseSet> result;

	/** Guarded by this. */
	private final List<Lease> leases = new ArrayList<>();

	/** Guarded by this. */
	private @Nullable CompletableFuture<Lease> awaited;

	private volatile LockKey wanted;

	/**
	 * Create it.
	 * @param requests one for each lock, in the order that is the same in all instances
	 * @param waitTime for all locks together
	 * @param atOnce acquires locks that are free within a wait time, or gives
	 * {@code null}; may block
	 * @param one acquires one lock; must not block
	 * @param tasks run what may block
	 */
	ManyLocks(List<LockRequest> requests, Duration waitTime,
			BiFunction<List<LockRequest>, Duration, @Nullable List<Lease>> atOnce,
			Function<LockRequest, CompletableFuture<Lease>> one, Executor tasks) {
		this.requests = requests;
		this.waitTime = waitTime;
		this.atOnce = atOnce;
		this.one = one;
		this.tasks = tasks;
		this.result = new FutureLease<>(tasks);
		this.wanted = requests.get(0).key();
	}

	/**
	 * Begin without blocking the current thread.
	 * @return the future leases; completing it otherwise ends the wait
	 */
	CompletableFuture<LeaseSet> begin() {
		this.result.whenComplete((leases, ex) -> {
			if (!(leases instanceof HeldLeases)) {
				// A caller that cancels it must not have to wait for the store
				this.tasks.execute(this::stop);
			}
		});
		this.tasks.execute(this::acquire);
		return this.result;
	}

	/**
	 * Acquire the locks on the current thread, waiting for them.
	 * @throws LockContendedException if one of them could not be acquired in time
	 * @throws LockInterruptedException if the thread is interrupted while it waits; no
	 * lock is held then
	 */
	LeaseSet await() {
		acquire();
		try {
			return this.result.get();
		}
		catch (InterruptedException ex) {
			this.result.cancel(false);
			Thread.currentThread().interrupt();
			stop();
			throw new LockInterruptedException(this.wanted);
		}
		catch (ExecutionException ex) {
			throw failure(ex.getCause());
		}
	}

	private static RuntimeException failure(@Nullable Throwable cause) {
		if (cause instanceof LockContendedException contention) {
			// Its stack trace tells which caller did without the locks
			return new LockContendedException(contention.getKey(), contention.getWaited());
		}
		if (cause instanceof Error error) {
			throw error;
		}
		return (cause instanceof RuntimeException failure) ? failure : new IllegalStateException(cause);
	}

	private void acquire() {
		try {
			List<Lease> granted = this.result.isDone() ? List.of() : this.atOnce.apply(this.requests, this.waitTime);
			if (granted == null) {
				acquireFrom(0);
			}
			else if (keep(granted)) {
				complete();
			}
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	/**
	 * Acquire lock after lock. A lease that is granted at once needs no callback: a
	 * thousand nested callbacks would be too deep.
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
		this.wanted = request.key();
		Duration left = this.waitTime.minus(waited());
		if (left.isNegative()) {
			if (further && !this.waitTime.isZero()) {
				throw new LockContendedException(request.key(), waited());
			}
			left = Duration.ZERO;
		}
		CompletableFuture<Lease> lease = this.one.apply(request.withWaitTime(left));
		if (!await(lease)) {
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
		Throwable cause = (failure instanceof CompletionException) ? failure.getCause() : failure;
		fail((cause instanceof LockContendedException contention)
				? new LockContendedException(contention.getKey(), waited()) : cause);
	}

	private Duration waited() {
		return Duration.ofNanos(System.nanoTime() - this.start);
	}

	/** A caller that learns of the failure finds no lock held. */
	private void fail(@Nullable Throwable failure) {
		stop();
		this.result.completeExceptionally((failure != null) ? failure : new CancellationException());
	}

	private synchronized boolean await(CompletableFuture<Lease> lease) {
		this.awaited = lease;
		return !this.result.isDone();
	}

	private boolean keep(List<Lease> granted) {
		synchronized (this) {
			if (!this.result.isDone()) {
				return this.leases.addAll(granted);
			}
		}
		giveBack(granted);
		return false;
	}

	private void complete() {
		if (!this.result.complete(new HeldLeases(List.copyOf(this.leases), this.tasks))) {
			stop();
		}
	}

	/** A lease that is granted later finds the result done, and is given back. */
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
		giveBack(granted);
	}

	/**
	 * Release locks that were acquired, as not all could be.
	 */
	static void giveBack(List<Lease> leases) {
		try {
			new HeldLeases(List.copyOf(leases), Runnable::run).close();
		}
		catch (LockLostException ex) {
			logger.debug("A lock was lost while others were waited for", ex);
		}
	}

}
