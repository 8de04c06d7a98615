// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Runs code under a lock: the semantics of {@link DistributedLock} for a lambda. Use it
 * inside a bean, where calls of the bean's own annotated methods bypass the lock, or
 * where the key is the result of earlier steps.
 *
 * <pre class="code">
 * int left = lockTemplate.execute(LockRequest.of("stock", productId), (lease) -> deduct(productId));
 * </pre>
 *
 * A {@link LockRequest} gives the body a {@link Lease}, and a {@link LockSetRequest} a
 * {@link LeaseSet} of several locks. Thread-safe and immutable.
 */
public class LockTemplate {

	private final LockRegistry registry;

	private final LockSettings settings;

	private final OnLost onLost;

	private final TransactionFencing transactionFencing;

	/**
	 * Create a template that throws a {@link LockLostException} when a lease is lost,
	 * unless the settings of the lock's name say otherwise. Its bodies respect
	 * transactions if the registry does, as that of an application with Spring does.
	 * @param registry acquires the locks
	 */
	public LockTemplate(LockRegistry registry) {
		this(registry, OnLost.DEFAULT, TransactionFencing.DEFAULT);
	}

	private LockTemplate(LockRegistry registry, OnLost onLost, TransactionFencing transactionFencing) {
		this.registry = registry;
		this.settings = LockSettings.of(registry);
		this.onLost = onLost;
		this.transactionFencing = transactionFencing;
	}

	/**
	 * Return a template with another reaction to a lost lease.
	 * @param onLost the reaction
	 */
	public LockTemplate withOnLost(OnLost onLost) {
		return new LockTemplate(this.registry, onLost, this.transactionFencing);
	}

	/**
	 * Return a template that decides whether transactions claim the fencing token.
	 * @param transactionFencing whether they do
	 */
	public LockTemplate withTransactionFencing(TransactionFencing transactionFencing) {
		return new LockTemplate(this.registry, this.onLost, transactionFencing);
	}

	/**
	 * Run the body under the lock. For a body that throws checked exceptions, use
	 * {@link #executeChecked}.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @return the body's result
	 * @throws LockException if the lock could not be acquired, or was lost; see
	 * {@link LockRegistry#acquire}. If the body itself fails, the loss of a lease is a
	 * suppressed exception of its failure
	 */
	public <L extends LeaseSet, T extends @Nullable Object> T execute(AnyLockRequest<L> request,
			Function<? super L, ? extends T> body) {
		return this.<L, T, RuntimeException>executeChecked(request, body::apply);
	}

	/**
	 * Run a body without a result under the lock.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @throws LockException if the lock could not be acquired, or was lost, as
	 * {@link #execute} does
	 */
	public <L extends LeaseSet> void executeWithoutResult(AnyLockRequest<L> request, Consumer<? super L> body) {
		this.<L, @Nullable Void, RuntimeException>executeChecked(request, (lease) -> {
			body.accept(lease);
			return null;
		});
	}

	/**
	 * Run the body under the lock, or a handler if another owner held the lock for the
	 * whole wait time or the store could not be asked: then nothing was executed. What
	 * the body itself throws is not handled, nor is an interrupt.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @param otherwise what to run instead, without the lock. Its argument is a
	 * {@link LockContendedException} or a {@link LockUnavailableException}
	 * @return the result of the body, or of the handler that ran instead
	 * @throws LockException if the wait was interrupted, or the lock was lost
	 */
	public <L extends LeaseSet, T extends @Nullable Object> T executeOrElse(AnyLockRequest<L> request,
			Function<? super L, ? extends T> body, Function<? super LockException, ? extends T> otherwise) {
		return this.<L, T, RuntimeException>executeChecked(request, body::apply, otherwise::apply);
	}

	/**
	 * Run a body that may throw a checked exception under the lock.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param <X> the type of exception that the body may throw
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @return the body's result
	 * @throws X the exception of the body; the loss of a lease is then a suppressed
	 * exception
	 * @throws LockException if the lock could not be acquired, or was lost, as
	 * {@link #execute} does
	 */
	public <L extends LeaseSet, T extends @Nullable Object, X extends Throwable> T executeChecked(
			AnyLockRequest<L> request, LockedBody<? super L, ? extends T, ? extends X> body) throws X {
		return this.<L, T, X>executeChecked(request, body, (failure) -> {
			throw failure;
		});
	}

	/**
	 * Run a body or a handler as {@link #executeOrElse} does, both of which may throw a
	 * checked exception.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param <X> the type of exception that body and handler may throw
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @param otherwise what to run instead, without the lock
	 * @return the result of the body, or of the handler that ran instead
	 * @throws X the exception of the body, or of the handler that ran instead
	 * @throws LockException if the wait was interrupted, or the lock was lost
	 */
	public <L extends LeaseSet, T extends @Nullable Object, X extends Throwable> T executeChecked(
			AnyLockRequest<L> request, LockedBody<? super L, ? extends T, ? extends X> body,
			LockFailureHandler<? extends T, ? extends X> otherwise) throws X {
		AnyLockRequest<L> complete = this.settings.forBody(request);
		LockedExecution.Terms terms = terms(complete);
		L lease;
		try {
			// The registry does not know that an outer body still runs, and would acquire
			// the lock anew
			LeaseContext.ensureNotLost(complete);
			lease = acquire(complete, terms);
		}
		catch (LockContendedException | LockUnavailableException ex) {
			return otherwise.handle(ex);
		}
		return LockedExecution.<L, T, X>run(Objects.requireNonNull(lease, LockedExecution.NO_LEASE), terms, body);
	}

	/**
	 * Run a body that returns a future under the lock, without blocking the current
	 * thread: the body begins when the lock is acquired, on another thread that may
	 * block, and the lock is held until the body's future is done.
	 * {@link Lease#current()} is available until the body returns. Cancelling the result
	 * ends the wait, or cancels the future of the body and releases the lock. The lock no
	 * longer protects work that continues behind a cancelled future.
	 *
	 * <p>
	 * The acquisition is not reentrant, unless the request has an
	 * {@linkplain LockRequest#withOwner owner}: a body that waits for the same lock waits
	 * for itself. A transaction of the current thread does not extend to the body. With
	 * {@link OnLost#INTERRUPT} a loss also cancels the future of the body.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @return the result, done after the lock is released. It fails with the exception of
	 * the body or of the body's future, and as {@link LockRegistry#acquireAsync} and
	 * {@link Lease#closeAsync} do. Dependent actions may block if they are attached by an
	 * <code>…Async</code> method
	 */
	public <L extends LeaseSet, T extends @Nullable Object> CompletableFuture<T> executeAsync(AnyLockRequest<L> request,
			Function<? super L, ? extends CompletionStage<T>> body) {
		return executeAsyncOrElse(request, body::apply, (failure) -> {
			throw failure;
		});
	}

	/**
	 * Run a body that returns a future under the lock as {@link #executeAsync} does, or a
	 * handler when {@link #executeOrElse} would run it. Both may throw a checked
	 * exception.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @param otherwise what to run instead, without the lock
	 * @return the result of the body, or of the handler that ran instead
	 */
	public <L extends LeaseSet, T extends @Nullable Object> CompletableFuture<T> executeAsyncOrElse(
			AnyLockRequest<L> request, LockedBody<? super L, ? extends CompletionStage<T>, ?> body,
			LockFailureHandler<? extends CompletionStage<T>, ?> otherwise) {
		AnyLockRequest<L> complete = this.settings.forBody(request);
		LockedExecution.Terms terms = terms(complete);
		return LockedExecution.runAsync(acquisition(complete, terms.onLost()), terms, body, otherwise);
	}

	/**
	 * Acquire the lock without blocking the current thread, for a body that neither
	 * blocks nor returns a future, such as a reactive chain. The caller runs the body and
	 * ends the outcome. For all other bodies {@link #executeAsync} is simpler.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param request which lock or locks, and how long to wait
	 * @return the outcome. Cancelling the future before it is done ends the wait, and
	 * releases a lock that is granted in the same instant. Dependent actions may block if
	 * they are attached by an <code>…Async</code> method
	 */
	public <L extends LeaseSet> CompletableFuture<LockOutcome<L>> acquireAsync(AnyLockRequest<L> request) {
		AnyLockRequest<L> complete = this.settings.forBody(request);
		OnLost onLost = onLost(complete);
		return new FutureOutcome<>(acquisition(complete, onLost), BodyTerms.of(complete, onLost));
	}

	@SuppressWarnings("unchecked")
	private <L extends LeaseSet> CompletableFuture<L> acquisition(AnyLockRequest<L> request, OnLost onLost) {
		AnyLockRequest<L> plain = HoldTimes.of(request).without(request);
		LockRegistry registry = registryFor(onLost);
		return (CompletableFuture<L>) ((plain instanceof LockRequest one) ? registry.acquireAsync(one)
				: registry.acquireAllAsync((LockSetRequest) plain));
	}

	@SuppressWarnings("unchecked")
	private <L extends LeaseSet> L acquire(AnyLockRequest<L> request, LockedExecution.Terms terms) {
		LockRegistry registry = registryFor(terms.onLost());
		AnyLockRequest<L> plain = HoldTimes.of(request).without(request);
		return (L) ((plain instanceof LockRequest one) ? registry.acquire(one)
				: registry.acquireAll((LockSetRequest) plain));
	}

	private LockRegistry registryFor(OnLost onLost) {
		return (this.registry instanceof BodyAwareLockRegistry aware) ? aware.forBodies(onLost, this.transactionFencing)
				: this.registry;
	}

	private LockedExecution.Terms terms(AnyLockRequest<?> request) {
		Map<LockKey, Duration> holdTimes = Map.of();
		for (LockRequest each : HoldTimes.of(request).kept()) {
			holdTimes = new HashMap<>(holdTimes);
			holdTimes.put(each.key(), Objects.requireNonNull(each.holdAtLeast()));
		}
		return new LockedExecution.Terms(onLost(request), holdTimes);
	}

	private OnLost onLost(AnyLockRequest<?> request) {
		return (this.onLost != OnLost.DEFAULT) ? this.onLost : this.settings.onLost(request);
	}

}
