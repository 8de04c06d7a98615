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

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;

/**
 * Takes several locks together or not at all, as {@link ManyLocks} does, without a thread
 * that waits.
 */
final class AsyncManyLocks {

	private final List<LockRequest> requests;

	private final Duration waitTime;

	private final BiFunction<List<LockRequest>, Duration, @Nullable List<Lease>> atOnce;

	private final Function<LockRequest, CompletableFuture<Lease>> one;

	private final Executor tasks;

	private final long start = System.nanoTime();

	private final FutureLease result;

	/** Guarded by this. */
	private final List<Lease> leases = new ArrayList<>();

	/** Guarded by this. */
	private @Nullable CompletableFuture<Lease> awaited;

	/**
	 * Create it.
	 * @param waitTime for all locks of the request
	 * @param atOnce takes locks that are free within a wait time, or gives {@code null}
	 * @param one takes one lock
	 * @param tasks run what may block
	 */
	AsyncManyLocks(LockRequest request, Duration waitTime,
			BiFunction<List<LockRequest>, Duration, @Nullable List<Lease>> atOnce,
			Function<LockRequest, CompletableFuture<Lease>> one, Executor tasks) {
		this.requests = ManyLocks.inOrder(request.all());
		this.waitTime = waitTime;
		this.atOnce = atOnce;
		this.one = one;
		this.tasks = tasks;
		this.result = new FutureLease(tasks);
	}

	/**
	 * Begin on the current thread, without blocking it.
	 * @return the future lease of all; completing it otherwise ends the wait
	 */
	CompletableFuture<Lease> begin() {
		this.result.whenComplete((lease, ex) -> {
			if (!(lease instanceof HeldLeases)) {
				// Whoever cancels it must not have to wait for the store
				this.tasks.execute(this::stop);
			}
		});
		this.tasks.execute(this::tryAtOnce);
		return this.result;
	}

	private void tryAtOnce() {
		try {
			List<Lease> granted = this.result.isDone() ? List.of() : this.atOnce.apply(this.requests, this.waitTime);
			if (granted == null) {
				goOn(0);
			}
			else if (keepAll(granted)) {
				complete();
			}
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	/**
	 * Take lock after lock. One that is there already needs no callback: a thousand of
	 * them would be too deep.
	 */
	private void goOn(int first) {
		try {
			for (int i = first; i < this.requests.size(); i++) {
				CompletableFuture<Lease> lease = take(this.requests.get(i));
				if (!lease.isDone() || lease.isCompletedExceptionally()) {
					int next = i + 1;
					lease.whenComplete((granted, ex) -> settle(granted, ex, next));
					return;
				}
				if (!keep(lease.join())) {
					return;
				}
			}
			complete();
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	private CompletableFuture<Lease> take(LockRequest request) {
		Duration left = this.waitTime.minusNanos(System.nanoTime() - this.start);
		CompletableFuture<Lease> lease = this.one.apply(request.withWaitTime(left.isNegative() ? Duration.ZERO : left));
		if (!await(lease)) {
			lease.cancel(false);
		}
		return lease;
	}

	private void settle(@Nullable Lease lease, @Nullable Throwable failure, int next) {
		if (lease == null) {
			fail((failure instanceof CompletionException) ? failure.getCause() : failure);
		}
		else if (keep(lease)) {
			goOn(next);
		}
	}

	/** Whoever learns of the failure finds nothing taken. */
	private void fail(@Nullable Throwable failure) {
		stop();
		this.result.completeExceptionally((failure != null) ? failure : new CancellationException());
	}

	private synchronized boolean await(CompletableFuture<Lease> lease) {
		this.awaited = lease;
		return !this.result.isDone();
	}

	private boolean keepAll(List<Lease> granted) {
		synchronized (this) {
			if (!this.result.isDone()) {
				return this.leases.addAll(granted);
			}
		}
		ManyLocks.giveBack(granted);
		return false;
	}

	private boolean keep(Lease lease) {
		return keepAll(List.of(lease));
	}

	private void complete() {
		if (!this.result.complete(new HeldLeases(List.copyOf(this.leases), this.tasks))) {
			stop();
		}
	}

	/** Whoever comes later sees that the result is there. */
	private void stop() {
		List<Lease> taken;
		CompletableFuture<Lease> awaited;
		synchronized (this) {
			taken = List.copyOf(this.leases);
			this.leases.clear();
			awaited = this.awaited;
		}
		if (awaited != null) {
			awaited.cancel(false);
		}
		ManyLocks.giveBack(taken);
	}

}
