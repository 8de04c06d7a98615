// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * One run of a body under its lock, from the grant to the release: on the current thread,
 * or until the future of the body is done.
 *
 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
 */
final class LockedExecution<L extends LeaseSet> {

	private final L lease;

	private final Terms terms;

	/** The loss that interrupted or cancelled the body. */
	private volatile @Nullable LockLostException endedBy;

	private LockedExecution(L lease, Terms terms) {
		this.lease = lease;
		this.terms = terms;
	}

	/**
	 * Run a body on the current thread under a lock that has just been granted.
	 */
	static <L extends LeaseSet, T extends @Nullable Object, X extends Throwable> T run(L lease, Terms terms,
			LockedBody<? super L, ? extends T, ? extends X> body) throws X {
		return begin(lease, terms).<T, X>run(body);
	}

	/**
	 * Run a body that returns a future, or a handler, once the lock is acquired or not.
	 * Both run on the default executor of the acquisition, even if that is already done:
	 * a body that blocks must not block the caller.
	 * @return the result, done after the release of the lock, with the same default
	 * executor. Cancelling it cancels the acquisition, or the future of the body
	 */
	static <L extends LeaseSet, T extends @Nullable Object> CompletableFuture<T> runAsync(
			CompletableFuture<L> acquisition, Terms terms, LockedBody<? super L, ? extends CompletionStage<T>, ?> body,
			LockFailureHandler<? extends CompletionStage<T>, ?> otherwise) {
		required(acquisition);
		InFuture<L, T> execution = new InFuture<>(terms, body, otherwise, acquisition.defaultExecutor());
		execution.follow(acquisition);
		acquisition.whenCompleteAsync(execution::begin, acquisition.defaultExecutor());
		return execution.result;
	}

	/**
	 * Return what a registry has returned, which is {@code null} only for a mock.
	 */
	static <V> V required(@Nullable V returned) {
		if (returned == null) {
			throw new IllegalStateException("The LockRegistry has returned no lease. A mock has to return one");
		}
		return returned;
	}

	/**
	 * Begin the hold times, and close the lease if its store cannot keep locks.
	 */
	private static <L extends LeaseSet> LockedExecution<L> begin(L lease, Terms terms) {
		LockedExecution<L> execution = new LockedExecution<>(lease, terms);
		try {
			execution.holdAtLeast(true);
			return execution;
		}
		catch (RuntimeException ex) {
			lease.closeAsync();
			throw ex;
		}
	}

	private void holdAtLeast(boolean successful) {
		this.terms.holdTimes.forEach((key, time) -> this.lease.get(key).holdAtLeast(successful ? time : Duration.ZERO));
	}

	private <T extends @Nullable Object, X extends Throwable> T run(
			LockedBody<? super L, ? extends T, ? extends X> body) throws X {
		LeaseContext.Scope scope = LeaseContext.enter(this.terms.registry, this.lease);
		T result;
		try {
			result = UnfinishedWork.ensureNoneBehind(this.<T, X>call(body), this.lease);
		}
		catch (Throwable ex) {
			throw LockedExecution.<X>unchecked(Objects.requireNonNull(leave(scope, ex)));
		}
		Throwable failure = leave(scope, null);
		if (failure != null) {
			throw LockedExecution.<X>unchecked(failure);
		}
		return result;
	}

	/**
	 * Run a body on the current thread unless its lock is already lost, and interrupt it
	 * on a loss if the template requires it.
	 */
	private <T extends @Nullable Object, X extends Throwable> T call(
			LockedBody<? super L, ? extends T, ? extends X> body) throws X {
		this.lease.ensureHeld();
		if (this.terms.onLost != OnLost.INTERRUPT) {
			return body.run(this.lease);
		}
		LossInterrupter interrupter = new LossInterrupter();
		this.lease.onLost(interrupter::interrupt);
		try {
			return interrupter.<L, T, X>run(body, this.lease);
		}
		finally {
			this.endedBy = interrupter.getLoss();
		}
	}

	private @Nullable Throwable leave(LeaseContext.Scope scope, @Nullable Throwable failure) {
		try {
			release(scope, failure == null);
			return cause(failure, null);
		}
		catch (RuntimeException ex) {
			return cause(failure, ex);
		}
	}

	private void release(LeaseContext.Scope scope, boolean successful) {
		try {
			holdAtLeast(successful);
		}
		finally {
			// The scope ends first, because listeners may run bodies of their own at the
			// release
			scope.close();
			this.lease.close();
		}
	}

	/**
	 * Release the lock without blocking.
	 */
	private CompletableFuture<Void> releaseAsync(boolean successful) {
		try {
			holdAtLeast(successful);
		}
		catch (RuntimeException ex) {
			return this.lease.closeAsync().thenCompose((nothing) -> CompletableFuture.failedFuture(ex));
		}
		return this.lease.closeAsync();
	}

	/**
	 * Return the exception for the caller of the body, or {@code null} if there is none.
	 * @param failure the failure of the body
	 * @param ofRelease the failure of the release
	 */
	private @Nullable Throwable cause(@Nullable Throwable failure, @Nullable Throwable ofRelease) {
		boolean tolerated = this.terms.onLost == OnLost.LOG && ofRelease instanceof LockLostException;
		Throwable end = (tolerated || isSameLoss(failure, ofRelease)) ? null : ofRelease;
		if (failure == null) {
			return end;
		}
		LockLostException loss = isSameLoss(failure, this.endedBy) ? null : this.endedBy;
		// An interrupted or cancelled body fails because of the loss
		Throwable first = (loss == null) ? failure : (end != null) ? end : loss;
		Throwable second = (loss == null) ? end : failure;
		if (second != null && second != first) {
			first.addSuppressed(second);
		}
		return first;
	}

	/**
	 * Return whether an exception only repeats that the same lease was lost.
	 */
	private static boolean isSameLoss(@Nullable Throwable failure, @Nullable Throwable repetition) {
		return failure instanceof LockLostException one && repetition instanceof LockLostException other
				&& one.getKey().equals(other.getKey()) && one.getFencingToken() == other.getFencingToken()
				&& other.getSuppressed().length == 0;
	}

	private static @Nullable Throwable unwrap(@Nullable Throwable ex) {
		return (ex instanceof CompletionException && ex.getCause() != null) ? ex.getCause() : ex;
	}

	@SuppressWarnings("unchecked")
	private static <X extends Throwable> X unchecked(Throwable ex) {
		return (X) ex;
	}

	/**
	 * The terms on which a body runs under its lock.
	 *
	 * @param registry the registry that acquires the lock
	 * @param onLost the reaction to the loss of the lock, never {@code DEFAULT}
	 * @param holdTimes how long locks are kept after their grant if the body succeeds
	 */
	record Terms(LockRegistry registry, OnLost onLost, Map<LockKey, Duration> holdTimes) {
	}

	/**
	 * A run that continues after the body has returned.
	 *
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 */
	private static final class InFuture<L extends LeaseSet, T extends @Nullable Object> {

		private final Terms terms;

		private final LockedBody<? super L, ? extends CompletionStage<T>, ?> body;

		private final LockFailureHandler<? extends CompletionStage<T>, ?> otherwise;

		private final Executor tasks;

		private final CompletableFuture<T> result = new CompletableFuture<>() {
			@Override
			public Executor defaultExecutor() {
				return InFuture.this.tasks;
			}
		};

		private volatile @Nullable CompletionStage<?> underWay;

		private InFuture(Terms terms, LockedBody<? super L, ? extends CompletionStage<T>, ?> body,
				LockFailureHandler<? extends CompletionStage<T>, ?> otherwise, Executor tasks) {
			this.terms = terms;
			this.body = body;
			this.otherwise = otherwise;
			this.tasks = tasks;
			this.result.whenComplete((value, ex) -> cancelUnderWay());
		}

		private void begin(@Nullable L lease, @Nullable Throwable failure) {
			LockedExecution<L> execution = null;
			try {
				if (lease != null && this.result.isDone()) {
					new LockedExecution<>(lease, this.terms).releaseAsync(false);
				}
				else if (lease != null) {
					execution = LockedExecution.begin(lease, this.terms);
					run(execution);
				}
				else if (!this.result.isDone()) {
					handle(unwrap(failure));
				}
			}
			catch (Throwable ex) {
				end(execution, null, ex);
			}
		}

		private void run(LockedExecution<L> execution) throws Throwable {
			CompletionStage<T> stage;
			try (LeaseContext.Scope scope = LeaseContext.enter(execution.terms.registry, execution.lease)) {
				stage = execution.<CompletionStage<T>, Throwable>call(this.body);
			}
			stage.thenApply((value) -> UnfinishedWork.ensureNoneBehind(value, execution.lease))
				.whenComplete((value, ex) -> end(execution, value, unwrap(ex)));
			follow(stage);
			if (this.terms.onLost == OnLost.INTERRUPT) {
				execution.lease.onLost((loss) -> {
					execution.endedBy = loss;
					// On another thread, because dependent actions of the future may take
					// time and callbacks must be short
					this.tasks.execute(this::cancelUnderWay);
				});
			}
		}

		private void handle(@Nullable Throwable failure) throws Throwable {
			if (failure instanceof LockContendedException || failure instanceof LockUnavailableException) {
				CompletionStage<T> stage = this.otherwise.handle((LockException) failure);
				stage.whenComplete((value, ex) -> end(null, value, unwrap(ex)));
				follow(stage);
				return;
			}
			throw required(failure);
		}

		private void end(@Nullable LockedExecution<L> execution, @Nullable T value, @Nullable Throwable failure) {
			if (execution == null) {
				complete(value, failure);
				return;
			}
			execution.releaseAsync(failure == null)
				.whenComplete((nothing, ex) -> complete(value, execution.cause(failure, unwrap(ex))));
		}

		private void complete(@Nullable T value, @Nullable Throwable failure) {
			if (failure != null) {
				this.result.completeExceptionally(failure);
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
				// A stage that cannot be cancelled holds the lock until it ends by itself
			}
		}

	}

}
