// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;

/**
 * Takes several locks together or not at all, without a thread: one by one, in the order
 * that is the same everywhere.
 */
final class AsyncManyLocks {

	private final List<LockRequest> requests;

	private final Duration waitTime;

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
	 * @param one takes one lock
	 * @param tasks run what may block
	 */
	AsyncManyLocks(LockRequest request, Duration waitTime, Function<LockRequest, CompletableFuture<Lease>> one,
			Executor tasks) {
		this.requests = ManyLocks.inOrder(request.all());
		this.waitTime = waitTime;
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
				stop();
			}
		});
		next(0);
		return this.result;
	}

	private void next(int index) {
		if (index == this.requests.size()) {
			complete();
			return;
		}
		Duration left = this.waitTime.minusNanos(System.nanoTime() - this.start);
		CompletableFuture<Lease> lease = this.one
			.apply(this.requests.get(index).withWaitTime(left.isNegative() ? Duration.ZERO : left));
		if (!await(lease)) {
			lease.cancel(false);
		}
		lease.whenComplete((granted, ex) -> {
			if (ex != null) {
				// Whoever learns of the failure finds nothing taken
				stop();
				this.result.completeExceptionally((ex instanceof CompletionException) ? ex.getCause() : ex);
			}
			else if (keep(granted)) {
				next(index + 1);
			}
			else {
				ManyLocks.giveBack(List.of(granted));
			}
		});
	}

	private synchronized boolean await(CompletableFuture<Lease> lease) {
		this.awaited = lease;
		return !this.result.isDone();
	}

	private synchronized boolean keep(Lease lease) {
		return !this.result.isDone() && this.leases.add(lease);
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
