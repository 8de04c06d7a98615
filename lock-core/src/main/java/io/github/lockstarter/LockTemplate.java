// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Runs code under a lock: the semantics of {@link DistributedLock} for a lambda. Use it
 * for calls within the same bean, which bypass annotations, or if the key is the result
 * of earlier steps.
 *
 * <pre class="code">
 * int left = lockTemplate.execute(LockRequest.of("stock", productId), (lease) -> deduct(productId));
 * </pre>
 *
 * Thread-safe and immutable.
 */
public class LockTemplate {

	private final LockRegistry registry;

	private final OnLost onLost;

	private final OnActiveTransaction onActiveTransaction;

	/**
	 * Create a template that throws a {@link LockLostException} if a lock is lost.
	 * @param registry provides the locks
	 */
	public LockTemplate(LockRegistry registry) {
		this(TransactionAwareLockRegistry.unwrap(registry), OnLost.THROW, OnActiveTransaction.DEFAULT);
	}

	private LockTemplate(LockRegistry registry, OnLost onLost, OnActiveTransaction onActiveTransaction) {
		this.registry = registry;
		this.onLost = onLost;
		this.onActiveTransaction = onActiveTransaction;
	}

	/**
	 * Return a template with another reaction to the loss of a lock.
	 * @param onLost the reaction
	 */
	public LockTemplate withOnLost(OnLost onLost) {
		return new LockTemplate(this.registry, onLost, this.onActiveTransaction);
	}

	/**
	 * Return a template with another reaction to a transaction that is already active.
	 * @param onActiveTransaction the reaction
	 */
	public LockTemplate withOnActiveTransaction(OnActiveTransaction onActiveTransaction) {
		return new LockTemplate(this.registry, this.onLost, onActiveTransaction);
	}

	/**
	 * Run the body under the lock.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that the body may throw
	 * @param request which lock, and how long to wait for it
	 * @param body what to run
	 * @return the result of the body
	 * @throws X an exception of the body; the loss of the lock is then a suppressed
	 * exception
	 * @throws LockException if the lock was not acquired, or was lost; see
	 * {@link LockRegistry#acquire}
	 */
	public <T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockedBody<T, X> body)
			throws X {
		return executeOrElse(request, body, (contention) -> {
			throw contention;
		});
	}

	/**
	 * Run the body under the lock, or a handler if another owner held the lock for the
	 * whole wait time. A {@link LockContendedException} that the body throws does not
	 * lead to the handler.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that body and handler may throw
	 * @param request which lock, and how long to wait for it
	 * @param body what to run
	 * @param onContention what to run on contention, without the lock
	 * @return the result of the one that ran
	 * @throws X an exception of the one that ran
	 * @throws LockException if the store did not answer, or the lock was lost
	 */
	public <T extends @Nullable Object, X extends Throwable> T executeOrElse(LockRequest request, LockedBody<T, X> body,
			ContentionHandler<T, X> onContention) throws X {
		return executeOrElse(request, body, onContention, (outage) -> {
			throw outage;
		});
	}

	/**
	 * Run the body under the lock, or one of two handlers: one if another owner held the
	 * lock for the whole wait time, one if the store did not answer. Exceptions of the
	 * body do not lead to a handler, nor do interrupts.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that body and handlers may throw
	 * @param request which lock, and how long to wait for it
	 * @param body what to run
	 * @param onContention what to run on contention, without the lock
	 * @param onOutage what to run on an outage, without the lock
	 * @return the result of the one that ran
	 * @throws X an exception of the one that ran
	 * @throws LockException if the wait was interrupted, or the lock was lost
	 */
	public <T extends @Nullable Object, X extends Throwable> T executeOrElse(LockRequest request, LockedBody<T, X> body,
			ContentionHandler<T, X> onContention, OutageHandler<T, X> onOutage) throws X {
		boolean untilCompletion = isUntilCompletion(request);
		LockOutcome outcome = LockOutcome.of(() -> acquire(request), this.onLost, HoldTimes.of(request));
		return new ThreadExecution(outcome, untilCompletion).run(body, onContention, onOutage);
	}

	/**
	 * Run a body that returns a future under the lock, without blocking the current
	 * thread. After the grant the body begins on another thread, which may block, and the
	 * lock is held until the future of the body is done. {@link Lease#current()} is set
	 * until the body returns. Cancelling the result withdraws from the wait, or cancels
	 * the future of the body and releases the lock; work that continues behind a
	 * cancelled future is no longer protected.
	 *
	 * <p>
	 * The lock is not reentrant here: a body that waits for the same lock waits for
	 * itself. A transaction of the current thread does not include the body, so
	 * {@link OnActiveTransaction} does not apply. With {@link OnLost#INTERRUPT} a loss
	 * also cancels the future of the body.
	 * @param <T> the type of the result
	 * @param request which lock, and how long to wait for it
	 * @param body what to run
	 * @return the result, done after the release of the lock. It fails as the body or its
	 * future does, and as {@link LockRegistry#acquireAsync} and {@link Lease#closeAsync}
	 * do
	 */
	public <T extends @Nullable Object> CompletableFuture<T> executeAsync(LockRequest request,
			LockedBody<? extends CompletionStage<T>, ?> body) {
		return executeAsyncOrElse(request, body, (contention) -> {
			throw contention;
		}, (outage) -> {
			throw outage;
		});
	}

	/**
	 * Run a body that returns a future under the lock as {@link #executeAsync} does, or
	 * one of two handlers: one if another owner held the lock for the whole wait time,
	 * one if the store did not answer.
	 * @param <T> the type of the result
	 * @param request which lock, and how long to wait for it
	 * @param body what to run
	 * @param onContention what to run on contention, without the lock
	 * @param onOutage what to run on an outage, without the lock
	 * @return the result of the one that ran
	 */
	public <T extends @Nullable Object> CompletableFuture<T> executeAsyncOrElse(LockRequest request,
			LockedBody<? extends CompletionStage<T>, ?> body,
			ContentionHandler<? extends CompletionStage<T>, ?> onContention,
			OutageHandler<? extends CompletionStage<T>, ?> onOutage) {
		Object owner = new Object();
		return new AsyncExecution<T>(body, onContention, onOutage).after(futureOutcome(request, (key) -> owner));
	}

	/**
	 * Run a body that returns a future under the lock as {@link #executeAsyncOrElse}
	 * does, but wait for the lock and begin the body on the current thread. Use it on a
	 * thread that was chosen for the body, such as that of an {@code @Async} method,
	 * whose context the body needs. The body alone owns the lock, so it is not reentrant
	 * here either. If the current thread is inside a transaction,
	 * {@link OnActiveTransaction} decides when the lock is released, and the result does
	 * not wait for that.
	 * @param <T> the type of the result
	 * @param request which lock, and how long to wait for it
	 * @param body what to run
	 * @param onContention what to run on contention, without the lock
	 * @param onOutage what to run on an outage, without the lock
	 * @return the result of the one that ran
	 */
	public <T extends @Nullable Object> CompletableFuture<T> beginOrElse(LockRequest request,
			LockedBody<? extends CompletionStage<T>, ?> body,
			ContentionHandler<? extends CompletionStage<T>, ?> onContention,
			OutageHandler<? extends CompletionStage<T>, ?> onOutage) {
		boolean untilCompletion = isUntilCompletion(request);
		Object owner = new Object();
		LockOutcome outcome = LockOutcome.of(() -> {
			Lease lease = this.registry.acquire(request, (key) -> owner);
			return untilCompletion ? new TransactionAwareLease(lease,
					LeaseContext.watch(lease, null, this.onLost != OnLost.LOG), true, true) : lease;
		}, this.onLost, HoldTimes.of(request));
		return new AsyncExecution<T>(body, onContention, onOutage).begin(outcome);
	}

	/**
	 * Acquire the lock without blocking the current thread, for a body that neither
	 * blocks nor returns a future, such as a reactive chain. The caller runs the body and
	 * ends the outcome. For all other bodies {@link #executeAsync} is simpler.
	 * @param request which lock, and how long to wait for it
	 * @param owners returns the owner of each lock, see
	 * {@link LockRegistry#acquireAsync(LockRequest, Function)}
	 * @return the outcome. Cancelling the future before it is done withdraws from the
	 * wait, and releases a lock that is granted in the same instant. Dependent actions
	 * may block if they are attached by an <code>…Async</code> method
	 */
	public CompletableFuture<LockOutcome> acquireAsync(LockRequest request, Function<LockKey, ?> owners) {
		return futureOutcome(request, owners);
	}

	private FutureOutcome futureOutcome(LockRequest request, Function<LockKey, ?> owners) {
		return new FutureOutcome(this.registry.acquireAsync(request, owners), this.onLost, HoldTimes.of(request));
	}

	/**
	 * Acquire the lock, unless an outer body on this thread has lost it: the registry
	 * does not know that the outer body still runs, and would acquire the lock again.
	 */
	private Lease acquire(LockRequest request) {
		LeaseContext.ensureNotLost(request);
		return this.registry.acquire(request);
	}

	private boolean isUntilCompletion(LockRequest request) {
		return TransactionBoundary.defersRelease(request.key(), this.onActiveTransaction);
	}

}
