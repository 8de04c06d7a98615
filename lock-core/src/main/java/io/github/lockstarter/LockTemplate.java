// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Runs code under a lock: the semantics of {@link DistributedLock} for a lambda. Use it
 * inside a bean, where an annotation on the bean's own method would not be seen, or where
 * the key is the outcome of earlier steps.
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
	 * Create a template that throws a {@link LockLostException} when a lease is lost.
	 * @param registry where the locks come from
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
	 * Return a template with another reaction to a lost lease.
	 * @param onLost the reaction
	 */
	public LockTemplate withOnLost(OnLost onLost) {
		return new LockTemplate(this.registry, onLost, this.onActiveTransaction);
	}

	/**
	 * Return a template with another reaction to a transaction that is active already.
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
	 * @return the body's result
	 * @throws X what the body threw; a lost lease is then a suppressed exception
	 * @throws LockException if the lock could not be had, or was lost; see
	 * {@link LockRegistry#acquire}
	 */
	public <T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockedBody<T, X> body)
			throws X {
		return executeOrElse(request, body, (contention) -> {
			throw contention;
		});
	}

	/**
	 * Run the body under the lock, or something else when somebody else held it for the
	 * whole wait time. A {@link LockContendedException} thrown by the body itself is not
	 * handled.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that body and handler may throw
	 * @param request which lock, and how long to wait for it
	 * @param body what to run
	 * @param onContention what to run instead, without the lock
	 * @return the result of the one that ran
	 * @throws X what the one that ran threw
	 * @throws LockException if the store could not be asked, or the lock was lost
	 */
	public <T extends @Nullable Object, X extends Throwable> T executeOrElse(LockRequest request, LockedBody<T, X> body,
			ContentionHandler<T, X> onContention) throws X {
		return executeOrElse(request, body, onContention, (outage) -> {
			throw outage;
		});
	}

	/**
	 * Run the body under the lock, or one thing when somebody else held it for the whole
	 * wait time and another when it could not be asked for. What the body itself throws
	 * is not handled, nor is an interrupt.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that body and handlers may throw
	 * @param request which lock, and how long to wait for it
	 * @param body what to run
	 * @param onContention what to run on contention, without the lock
	 * @param onOutage what to run on an outage, without the lock
	 * @return the result of the one that ran
	 * @throws X what the one that ran threw
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
	 * thread: the body begins when the lock is there, on another thread that may block,
	 * and the lock is held until its future is done. {@link Lease#current()} is there
	 * until the body returns. Cancelling the result ends the wait, or cancels the future
	 * of the body and gives the lock back; work that goes on behind a cancelled future is
	 * not protected any more.
	 *
	 * <p>
	 * Nothing here is reentrant: a body that waits for the same lock waits for itself. A
	 * transaction of the current thread is none of the body, so
	 * {@link OnActiveTransaction} does not matter. With {@link OnLost#INTERRUPT} a loss
	 * also cancels the future of the body.
	 * @param <T> the type of the result
	 * @param request which lock, and how long to wait for it
	 * @param body what to run
	 * @return the result, done after the lock is given back. It fails with what the body
	 * throws or its future fails with, and as {@link LockRegistry#acquireAsync} and
	 * {@link Lease#closeAsync} do
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
	 * one thing when somebody else held it for the whole wait time and another when it
	 * could not be asked for.
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
	 * does, but wait for the lock and begin the body on the current thread: for one that
	 * the call was handed over to, such as that of an {@code @Async} method, whose
	 * context the body needs. Nobody owns the lock but the body, so this is not reentrant
	 * either. If the current thread is inside a transaction, {@link OnActiveTransaction}
	 * says what becomes of the lock, and the result does not wait for its release.
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
	 * blocks nor returns a future, such as a reactive chain. Who calls this runs such a
	 * body by itself, and ends the outcome with it; everybody else is served better by
	 * {@link #executeAsync}.
	 * @param request which lock, and how long to wait for it
	 * @param owners gives for each lock what stands for the piece of work that owns it,
	 * see {@link LockRegistry#acquireAsync(LockRequest, Function)}
	 * @return how the acquisition ended. Cancelling it withdraws from the wait, or
	 * releases the lock if the outcome is not there yet. Actions that depend on it may
	 * block if they are attached by an <code>…Async</code> method
	 */
	public CompletableFuture<LockOutcome> acquireAsync(LockRequest request, Function<LockKey, ?> owners) {
		return futureOutcome(request, owners);
	}

	private FutureOutcome futureOutcome(LockRequest request, Function<LockKey, ?> owners) {
		return new FutureOutcome(this.registry.acquireAsync(request, owners), this.onLost, HoldTimes.of(request));
	}

	/**
	 * Take the lock, unless an outer body on this thread has lost it: the registry does
	 * not know that this body still runs, and would take the lock anew.
	 */
	private Lease acquire(LockRequest request) {
		LeaseContext.ensureNotLost(request);
		return this.registry.acquire(request);
	}

	private boolean isUntilCompletion(LockRequest request) {
		return TransactionBoundary.defersRelease(request.key(), this.onActiveTransaction);
	}

}
