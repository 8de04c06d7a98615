// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * One run of a body that continues after its return: the lock is held until the future of
 * the body is done, and released before the future of the caller is done.
 *
 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
 * @param <T> the type of the result
 */
final class AsyncExecution<L extends LeaseSet, T extends @Nullable Object> {

	private final LockedBody<? super L, ? extends CompletionStage<T>, ?> body;

	private final LockFailureHandler<? extends CompletionStage<T>, ?> otherwise;

	private final CompletableFuture<T> result = new CompletableFuture<>();

	private volatile @Nullable CompletionStage<?> underWay;

	AsyncExecution(LockedBody<? super L, ? extends CompletionStage<T>, ?> body,
			LockFailureHandler<? extends CompletionStage<T>, ?> otherwise) {
		this.body = body;
		this.otherwise = otherwise;
		this.result.whenComplete((value, ex) -> cancelUnderWay());
	}

	/**
	 * Run the body or a handler on another thread, once the outcome is known.
	 * @return the result; cancelling it cancels the step under way
	 */
	CompletableFuture<T> after(FutureOutcome<L> outcome) {
		follow(outcome);
		Executor tasks = outcome.defaultExecutor();
		// On another thread even if the outcome is known: a body that blocks must not
		// block the caller
		outcome.thenAcceptAsync((there) -> run(there, tasks), tasks);
		return this.result;
	}

	private void run(LockOutcome<L> outcome, Executor tasks) {
		if (this.result.isDone()) {
			outcome.end(new CancellationException());
			return;
		}
		try {
			CompletionStage<T> stage = outcome.<CompletionStage<T>, Throwable>choose((lease) -> call(outcome, lease),
					this.otherwise);
			stage.whenComplete((value, ex) -> end(outcome, value, LockOutcome.unwrap(ex)));
			follow(stage);
			// On another thread, because dependent actions of the future may take time
			// and callbacks must be short
			outcome.onLoss(() -> tasks.execute(this::cancelUnderWay));
		}
		catch (Throwable ex) {
			end(outcome, null, ex);
		}
	}

	private CompletionStage<T> call(LockOutcome<L> outcome, L lease) throws Throwable {
		try (LeaseContext.Scope scope = LeaseContext.enter(lease)) {
			return outcome.call(this.body, lease);
		}
	}

	private void end(LockOutcome<L> outcome, @Nullable T value, @Nullable Throwable failure) {
		outcome.end(failure).whenComplete((nothing, ex) -> {
			if (ex != null) {
				this.result.completeExceptionally(ex);
			}
			else {
				this.result.complete(value);
			}
		});
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
			// A stage that cannot be cancelled holds the lock until it ends by itself
		}
	}

}
