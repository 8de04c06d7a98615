// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * One run of a body that goes on after it has returned: the lock is held until the future
 * of the body is done, and given back before the caller's future is.
 *
 * @param <L> what the body is given
 * @param <T> the type of the result
 */
final class AsyncExecution<L extends LeaseSet, T extends @Nullable Object> {

	private final OnLost onLost;

	private final HoldTimes holdTimes;

	private final CompletableFuture<T> result = new CompletableFuture<>();

	private volatile @Nullable CompletionStage<?> underWay;

	AsyncExecution(OnLost onLost, HoldTimes holdTimes) {
		this.onLost = onLost;
		this.holdTimes = holdTimes;
	}

	/**
	 * Run the body when its lock is there, and something else if it cannot be had.
	 * @return the result; cancelling it cancels what it waits for
	 */
	CompletableFuture<T> start(CompletableFuture<L> acquisition, LockedBody<L, ? extends CompletionStage<T>, ?> body,
			ContentionHandler<? extends CompletionStage<T>, ?> onContention,
			OutageHandler<? extends CompletionStage<T>, ?> onOutage) {
		Executor tasks = acquisition.defaultExecutor();
		this.result.whenComplete((value, ex) -> cancelUnderWay());
		follow(acquisition);
		// A body that blocks must not block the caller, even if the lease is there
		// already
		acquisition.whenCompleteAsync((lease, ex) -> {
			if (lease != null) {
				run(tolerant(lease), tasks, body);
			}
			else {
				runInstead(ex, onContention, onOutage);
			}
		}, tasks);
		return this.result;
	}

	/**
	 * Take the lock and begin the body on the current thread, or something else if the
	 * lock cannot be had.
	 * @param deferring whether the lock is kept until the end of the transaction
	 * @return the result; cancelling it cancels what it waits for
	 */
	CompletableFuture<T> begin(Supplier<L> acquisition, boolean deferring,
			LockedBody<L, ? extends CompletionStage<T>, ?> body,
			ContentionHandler<? extends CompletionStage<T>, ?> onContention,
			OutageHandler<? extends CompletionStage<T>, ?> onOutage) {
		L lease;
		try {
			lease = tolerant(acquisition.get());
		}
		catch (LockException ex) {
			runInstead(ex, onContention, onOutage);
			return this.result;
		}
		this.result.whenComplete((value, ex) -> cancelUnderWay());
		run(deferring ? tolerant(TransactionAwareLeaseSet.of(lease, null, true, true)) : lease,
				this.result.defaultExecutor(), body);
		return this.result;
	}

	private L tolerant(L lease) {
		return (this.onLost == OnLost.LOG) ? LossTolerantLeaseSet.of(lease) : lease;
	}

	private void run(L lease, Executor tasks, LockedBody<L, ? extends CompletionStage<T>, ?> body) {
		if (this.result.isDone()) {
			end(lease, null, new CancellationException());
			return;
		}
		try {
			CompletionStage<T> stage = call(lease, body);
			stage.whenComplete((value, ex) -> end(lease, value, ex));
			follow(stage);
			if (this.onLost == OnLost.INTERRUPT) {
				// What depends on it may take its time, which callbacks must not
				lease.onLost((loss) -> tasks.execute(this::cancelUnderWay));
			}
		}
		catch (Throwable ex) {
			end(lease, null, ex);
		}
	}

	private CompletionStage<T> call(L lease, LockedBody<L, ? extends CompletionStage<T>, ?> body) throws Throwable {
		try (LeaseContext.Scope scope = LeaseContext.enter(lease)) {
			if (this.onLost != OnLost.INTERRUPT) {
				return body.run(lease);
			}
			LossInterrupter interrupter = new LossInterrupter();
			lease.onLost(interrupter::interrupt);
			return interrupter.run(body, lease);
		}
	}

	private void runInstead(Throwable reason, ContentionHandler<? extends CompletionStage<T>, ?> onContention,
			OutageHandler<? extends CompletionStage<T>, ?> onOutage) {
		try {
			CompletionStage<T> stage;
			if (reason instanceof LockContendedException contention) {
				stage = onContention.handle(contention);
			}
			else if (reason instanceof LockUnavailableException outage) {
				stage = onOutage.handle(outage);
			}
			else {
				throw reason;
			}
			stage.whenComplete(this::settle);
			follow(stage);
		}
		catch (Throwable ex) {
			this.result.completeExceptionally(ex);
		}
	}

	private void end(L lease, @Nullable T value, @Nullable Throwable failure) {
		this.holdTimes.apply(lease, failure == null);
		lease.closeAsync().whenComplete((nothing, loss) -> settle(value, outcome(failure, loss)));
	}

	private @Nullable Throwable outcome(@Nullable Throwable failure, @Nullable Throwable loss) {
		Throwable cause = unwrap(failure);
		Throwable end = unwrap(loss);
		if (cause == null || end == null) {
			return (cause != null) ? cause : end;
		}
		// What a cancelled body throws is a consequence of the loss
		Throwable first = (this.onLost == OnLost.INTERRUPT) ? end : cause;
		first.addSuppressed((first == end) ? cause : end);
		return first;
	}

	private void settle(@Nullable T value, @Nullable Throwable failure) {
		Throwable cause = unwrap(failure);
		if (cause != null) {
			this.result.completeExceptionally(cause);
		}
		else {
			this.result.complete(value);
		}
	}

	private void follow(CompletionStage<?> stage) {
		this.underWay = stage;
		if (this.result.isDone()) {
			cancelUnderWay();
		}
	}

	private void cancelUnderWay() {
		CompletionStage<?> underWay = this.underWay;
		try {
			if (underWay instanceof Future<?> future) {
				future.cancel(true);
			}
			else if (underWay != null) {
				underWay.toCompletableFuture().cancel(true);
			}
		}
		catch (UnsupportedOperationException ex) {
			// It cannot be cancelled: the lock is held until it ends by itself
		}
	}

	private static @Nullable Throwable unwrap(@Nullable Throwable ex) {
		return (ex instanceof CompletionException && ex.getCause() != null) ? ex.getCause() : ex;
	}

}
