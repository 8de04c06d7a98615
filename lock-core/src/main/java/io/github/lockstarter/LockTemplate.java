// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

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
		boolean deferring = isDeferring(request);
		return runHolding(acquire(request), deferring, keeping(request, body));
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
		boolean deferring = isDeferring(request);
		Lease lease;
		try {
			lease = acquire(request);
		}
		catch (LockContendedException ex) {
			return onContention.handle(ex);
		}
		catch (LockUnavailableException ex) {
			return onOutage.handle(ex);
		}
		return runHolding(lease, deferring, keeping(request, body));
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
		return new AsyncExecution<T>(this.onLost, HoldTimes.of(request)).start(this.registry.acquireAsync(request),
				body, onContention, onOutage);
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
		boolean deferring = isDeferring(request);
		Object owner = new Object();
		return new AsyncExecution<T>(this.onLost, HoldTimes.of(request))
			.begin(() -> this.registry.acquire(request, (key) -> owner), deferring, body, onContention, onOutage);
	}

	/**
	 * Return a body that asks to hold the lock for longer if it succeeds.
	 */
	private static <T extends @Nullable Object, X extends Throwable> LockedBody<T, X> keeping(LockRequest request,
			LockedBody<T, X> body) {
		HoldTimes times = HoldTimes.of(request);
		if (times.isEmpty()) {
			return body;
		}
		return (lease) -> {
			boolean successful = false;
			try {
				T result = body.run(lease);
				successful = true;
				return result;
			}
			finally {
				times.apply(lease, successful);
			}
		};
	}

	/**
	 * Take the lock, unless an outer body on this thread has lost it: the registry does
	 * not know that this body still runs, and would take the lock anew.
	 */
	private Lease acquire(LockRequest request) {
		LeaseContext.ensureNotLost(request);
		return this.registry.acquire(request);
	}

	private boolean isDeferring(LockRequest request) {
		return TransactionBoundary.defersRelease(request.key(), this.onActiveTransaction);
	}

	private <T extends @Nullable Object, X extends Throwable> T runHolding(Lease lease, boolean deferring,
			LockedBody<T, X> body) throws X {
		return switch (this.onLost) {
			case THROW -> runInContext(lease, deferring, body);
			case INTERRUPT -> runInterruptibly(lease, deferring, body);
			case LOG -> runInContext(new LossTolerantLease(lease), deferring, body);
		};
	}

	private <T extends @Nullable Object, X extends Throwable> T runInContext(Lease lease, boolean deferring,
			LockedBody<T, X> body) throws X {
		LeaseContext.Scope scope = LeaseContext.enter(lease);
		if (deferring) {
			return runUntilCompletion(scope, body);
		}
		// The scope ends first: listeners of the release may run transactions of their
		// own
		try (lease; scope) {
			return body.run(lease);
		}
	}

	private <T extends @Nullable Object, X extends Throwable> T runUntilCompletion(LeaseContext.Scope scope,
			LockedBody<T, X> body) throws X {
		TransactionBoundary.endAfterCompletion(scope);
		try {
			return body.run(scope.lease());
		}
		finally {
			scope.leave();
		}
	}

	private <T extends @Nullable Object, X extends Throwable> T runInterruptibly(Lease lease, boolean deferring,
			LockedBody<T, X> body) throws X {
		LossInterrupter interrupter = new LossInterrupter();
		lease.onLost(interrupter::interrupt);
		return runInContext(lease, deferring, (held) -> {
			try {
				return interrupter.run(body, held);
			}
			catch (Throwable ex) {
				// What an interrupted body throws is a consequence of the loss
				LockLostException loss = interrupter.getLoss();
				if (loss != null) {
					loss.addSuppressed(ex);
					throw loss;
				}
				throw ex;
			}
		});
	}

}
