// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

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
 * Each method exists for one lock, whose body gets a {@link Lease}, and for several locks
 * that are acquired together or not at all, whose body gets a {@link LeaseSet}; see
 * {@link LockRegistry#acquireAll} for their requests. Thread-safe and immutable.
 */
public class LockTemplate {

	private final LockRegistry registry;

	private final LockSettings settings;

	private final OnLost onLost;

	private final TransactionFencing transactionFencing;

	private final boolean skips;

	/**
	 * Create a template that throws a {@link LockLostException} when a lease is lost,
	 * unless the settings of the lock's name say otherwise. Its bodies respect
	 * transactions if the registry does, as that of an application with Spring does.
	 * @param registry acquires the locks
	 */
	public LockTemplate(LockRegistry registry) {
		this(registry, OnLost.DEFAULT, TransactionFencing.DEFAULT, false);
	}

	private LockTemplate(LockRegistry registry, OnLost onLost, TransactionFencing transactionFencing, boolean skips) {
		this.registry = registry;
		// A mock of a registry has none
		this.settings = Objects.requireNonNullElse(registry.settings(), LockSettings.NONE);
		this.onLost = onLost;
		this.transactionFencing = transactionFencing;
		this.skips = skips;
	}

	/**
	 * Return a template with another reaction to a lost lease.
	 * @param onLost the reaction
	 */
	public LockTemplate withOnLost(OnLost onLost) {
		return new LockTemplate(this.registry, onLost, this.transactionFencing, this.skips);
	}

	/**
	 * Return a template that decides whether transactions claim the fencing token.
	 * @param transactionFencing whether they do
	 */
	public LockTemplate withTransactionFencing(TransactionFencing transactionFencing) {
		return new LockTemplate(this.registry, this.onLost, transactionFencing, this.skips);
	}

	/**
	 * Return a template whose caller goes on without the body if a lock is contended, so
	 * that observations count that as skipped. What happens then is up to the handler, as
	 * ever.
	 * @param skips whether it does
	 */
	public LockTemplate withSkips(boolean skips) {
		return new LockTemplate(this.registry, this.onLost, this.transactionFencing, skips);
	}

	/**
	 * Run the body under the lock. For a body that throws checked exceptions, use
	 * {@link #executeChecked(LockRequest, LockedBody) executeChecked}.
	 * @param <T> the type of the result
	 * @param request which lock, and how long to wait
	 * @param body what to run
	 * @return the body's result
	 * @throws LockException if the lock could not be acquired, or was lost; see
	 * {@link LockRegistry#acquire}. If the body itself fails, the loss of a lease is a
	 * suppressed exception of its failure
	 * @throws IllegalStateException if the body has returned a result whose work is still
	 * to come, such as a stream or an unfinished future. Use
	 * {@link #executeAsync(LockRequest, Function) executeAsync} for a future
	 */
	public <T extends @Nullable Object> T execute(LockRequest request, Function<? super Lease, ? extends T> body) {
		return this.<T, RuntimeException>executeChecked(request, body::apply);
	}

	/**
	 * Run the body under several locks.
	 * @param <T> the type of the result
	 * @param requests which locks, and how long to wait
	 * @param body what to run
	 * @return the body's result
	 * @throws LockException if a lock could not be acquired, or was lost
	 * @see #execute(LockRequest, Function)
	 */
	public <T extends @Nullable Object> T execute(Collection<LockRequest> requests,
			Function<? super LeaseSet, ? extends T> body) {
		return this.<T, RuntimeException>executeChecked(requests, body::apply);
	}

	/**
	 * Run a body without a result under the lock.
	 * @param request which lock, and how long to wait
	 * @param body what to run
	 * @throws LockException if the lock could not be acquired, or was lost
	 * @see #execute(LockRequest, Function)
	 */
	public void executeWithoutResult(LockRequest request, Consumer<? super Lease> body) {
		this.<@Nullable Void, RuntimeException>executeChecked(request, (lease) -> {
			body.accept(lease);
			return null;
		});
	}

	/**
	 * Run a body without a result under several locks.
	 * @param requests which locks, and how long to wait
	 * @param body what to run
	 * @throws LockException if a lock could not be acquired, or was lost
	 * @see #execute(LockRequest, Function)
	 */
	public void executeWithoutResult(Collection<LockRequest> requests, Consumer<? super LeaseSet> body) {
		this.<@Nullable Void, RuntimeException>executeChecked(requests, (leases) -> {
			body.accept(leases);
			return null;
		});
	}

	/**
	 * Run the body under the lock, or nothing if another owner held the lock for the
	 * whole wait time. For a caller that wants to know whether the body was executed: the
	 * result is empty if, and only if, it was not.
	 * @param <T> the type of the result
	 * @param request which lock, and how long to wait
	 * @param body what to run; must not return {@code null}
	 * @return the body's result, or an empty result if it was not executed
	 * @throws LockException if the store could not be asked, the wait was interrupted, or
	 * the lock was lost
	 * @throws NullPointerException if the body has returned {@code null}
	 */
	public <T> Optional<T> tryExecute(LockRequest request, Function<? super Lease, ? extends T> body) {
		return withSkips(true).executeOrElse(request,
				(lease) -> Optional.of(Objects.requireNonNull(body.apply(lease), "The body has returned null")),
				(failure) -> {
					if (failure instanceof LockContendedException) {
						return Optional.empty();
					}
					throw failure;
				});
	}

	/**
	 * Run the body under the lock, or a handler if another owner held the lock for the
	 * whole wait time or the store could not be asked: then nothing was executed. What
	 * the body itself throws is not handled, nor is an interrupt.
	 * @param <T> the type of the result
	 * @param request which lock, and how long to wait
	 * @param body what to run
	 * @param otherwise what to run instead, without the lock. Its argument is a
	 * {@link LockContendedException} or a {@link LockUnavailableException}
	 * @return the result of the body, or of the handler that ran instead
	 * @throws LockException if the wait was interrupted, or the lock was lost
	 */
	public <T extends @Nullable Object> T executeOrElse(LockRequest request, Function<? super Lease, ? extends T> body,
			Function<? super LockException, ? extends T> otherwise) {
		return this.<T, RuntimeException>executeChecked(request, body::apply, otherwise::apply);
	}

	/**
	 * Run the body under several locks, or a handler if one of them could not be
	 * acquired.
	 * @param <T> the type of the result
	 * @param requests which locks, and how long to wait
	 * @param body what to run
	 * @param otherwise what to run instead, without the locks
	 * @return the result of the body, or of the handler that ran instead
	 * @throws LockException if the wait was interrupted, or a lock was lost
	 * @see #executeOrElse(LockRequest, Function, Function)
	 */
	public <T extends @Nullable Object> T executeOrElse(Collection<LockRequest> requests,
			Function<? super LeaseSet, ? extends T> body, Function<? super LockException, ? extends T> otherwise) {
		return this.<T, RuntimeException>executeChecked(requests, body::apply, otherwise::apply);
	}

	/**
	 * Run a body that may throw a checked exception under the lock.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that the body may throw
	 * @param request which lock, and how long to wait
	 * @param body what to run
	 * @return the body's result
	 * @throws X the exception of the body; the loss of a lease is then a suppressed
	 * exception
	 * @throws LockException if the lock could not be acquired, or was lost; see
	 * {@link LockRegistry#acquire}
	 */
	public <T extends @Nullable Object, X extends Throwable> T executeChecked(LockRequest request,
			LockedBody<? super Lease, ? extends T, ? extends X> body) throws X {
		return this.<T, X>executeChecked(request, body, LockTemplate::fail);
	}

	/**
	 * Run a body that may throw a checked exception under several locks.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that the body may throw
	 * @param requests which locks, and how long to wait
	 * @param body what to run
	 * @return the body's result
	 * @throws X the exception of the body; the loss of a lease is then a suppressed
	 * exception
	 * @throws LockException if a lock could not be acquired, or was lost
	 */
	public <T extends @Nullable Object, X extends Throwable> T executeChecked(Collection<LockRequest> requests,
			LockedBody<? super LeaseSet, ? extends T, ? extends X> body) throws X {
		return this.<T, X>executeChecked(requests, body, LockTemplate::fail);
	}

	/**
	 * Run a body or a handler as {@link #executeOrElse(LockRequest, Function, Function)
	 * executeOrElse} does, both of which may throw a checked exception.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that body and handler may throw
	 * @param request which lock, and how long to wait
	 * @param body what to run
	 * @param otherwise what to run instead, without the lock
	 * @return the result of the body, or of the handler that ran instead
	 * @throws X the exception of the body, or of the handler that ran instead
	 * @throws LockException if the wait was interrupted, or the lock was lost
	 */
	public <T extends @Nullable Object, X extends Throwable> T executeChecked(LockRequest request,
			LockedBody<? super Lease, ? extends T, ? extends X> body,
			LockFailureHandler<? extends T, ? extends X> otherwise) throws X {
		LockedExecution.Terms terms = terms(request);
		return this.<Lease, T, X>run(() -> {
			// The registry does not know that an outer body still runs, and would acquire
			// the lock anew
			LeaseContext.ensureNotLost(this.registry, request.key());
			return this.registry.acquire(request.forBody(body(terms)));
		}, terms, body, otherwise);
	}

	/**
	 * Run a body under several locks or a handler, both of which may throw a checked
	 * exception.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that body and handler may throw
	 * @param requests which locks, and how long to wait
	 * @param body what to run
	 * @param otherwise what to run instead, without the locks
	 * @return the result of the body, or of the handler that ran instead
	 * @throws X the exception of the body, or of the handler that ran instead
	 * @throws LockException if the wait was interrupted, or a lock was lost
	 * @see #executeChecked(LockRequest, LockedBody, LockFailureHandler)
	 */
	public <T extends @Nullable Object, X extends Throwable> T executeChecked(Collection<LockRequest> requests,
			LockedBody<? super LeaseSet, ? extends T, ? extends X> body,
			LockFailureHandler<? extends T, ? extends X> otherwise) throws X {
		LockedExecution.Terms terms = terms(requests);
		return this.<LeaseSet, T, X>run(() -> {
			requests.forEach((each) -> LeaseContext.ensureNotLost(this.registry, each.key()));
			return this.registry.acquireAll(forBody(requests, terms));
		}, terms, body, otherwise);
	}

	private <L extends LeaseSet, T extends @Nullable Object, X extends Throwable> T run(Supplier<L> acquisition,
			LockedExecution.Terms terms, LockedBody<? super L, ? extends T, ? extends X> body,
			LockFailureHandler<? extends T, ? extends X> otherwise) throws X {
		L lease;
		try {
			lease = acquisition.get();
		}
		catch (LockContendedException | LockUnavailableException ex) {
			return otherwise.handle(ex);
		}
		return LockedExecution.<L, T, X>run(LockedExecution.required(lease), terms, body);
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
	 * @param <T> the type of the result
	 * @param request which lock, and how long to wait
	 * @param body what to run
	 * @return the result, done after the lock is released. It fails with the exception of
	 * the body or of the body's future, and as {@link LockRegistry#acquireAsync} and
	 * {@link Lease#closeAsync} do. Dependent actions may block if they are attached by an
	 * <code>…Async</code> method
	 */
	public <T extends @Nullable Object> CompletableFuture<T> executeAsync(LockRequest request,
			Function<? super Lease, ? extends CompletionStage<T>> body) {
		return executeAsyncOrElse(request, body::apply, LockTemplate::fail);
	}

	/**
	 * Run a body that returns a future under several locks, without blocking the current
	 * thread.
	 * @param <T> the type of the result
	 * @param requests which locks, and how long to wait
	 * @param body what to run
	 * @return the result, done after the locks are released
	 * @see #executeAsync(LockRequest, Function)
	 */
	public <T extends @Nullable Object> CompletableFuture<T> executeAsync(Collection<LockRequest> requests,
			Function<? super LeaseSet, ? extends CompletionStage<T>> body) {
		return executeAsyncOrElse(requests, body::apply, LockTemplate::fail);
	}

	/**
	 * Run a body that returns a future under the lock as
	 * {@link #executeAsync(LockRequest, Function) executeAsync} does, or a handler when
	 * {@link #executeOrElse(LockRequest, Function, Function) executeOrElse} would run it.
	 * Both may throw a checked exception.
	 * @param <T> the type of the result
	 * @param request which lock, and how long to wait
	 * @param body what to run
	 * @param otherwise what to run instead, without the lock
	 * @return the result of the body, or of the handler that ran instead
	 */
	public <T extends @Nullable Object> CompletableFuture<T> executeAsyncOrElse(LockRequest request,
			LockedBody<? super Lease, ? extends CompletionStage<T>, ?> body,
			LockFailureHandler<? extends CompletionStage<T>, ?> otherwise) {
		LockedExecution.Terms terms = terms(request);
		return LockedExecution.<Lease, T>runAsync(this.registry.acquireAsync(request.forBody(body(terms))), terms, body,
				otherwise);
	}

	/**
	 * Run a body that returns a future under several locks, or a handler if one of them
	 * could not be acquired. Both may throw a checked exception.
	 * @param <T> the type of the result
	 * @param requests which locks, and how long to wait
	 * @param body what to run
	 * @param otherwise what to run instead, without the locks
	 * @return the result of the body, or of the handler that ran instead
	 * @see #executeAsyncOrElse(LockRequest, LockedBody, LockFailureHandler)
	 */
	public <T extends @Nullable Object> CompletableFuture<T> executeAsyncOrElse(Collection<LockRequest> requests,
			LockedBody<? super LeaseSet, ? extends CompletionStage<T>, ?> body,
			LockFailureHandler<? extends CompletionStage<T>, ?> otherwise) {
		LockedExecution.Terms terms = terms(requests);
		return LockedExecution.<LeaseSet, T>runAsync(this.registry.acquireAllAsync(forBody(requests, terms)), terms,
				body, otherwise);
	}

	private static <T extends @Nullable Object> T fail(LockException failure) {
		throw failure;
	}

	private LockRequest.Body body(LockedExecution.Terms terms) {
		return new LockRequest.Body(terms.onLost(), this.transactionFencing, this.skips);
	}

	private List<LockRequest> forBody(Collection<LockRequest> requests, LockedExecution.Terms terms) {
		LockRequest.Body body = body(terms);
		return requests.stream().map((each) -> each.forBody(body)).toList();
	}

	private LockedExecution.Terms terms(LockRequest request) {
		Duration holdAtLeast = this.settings.holdAtLeast(request);
		return new LockedExecution.Terms(this.registry,
				(this.onLost != OnLost.DEFAULT) ? this.onLost : this.settings.onLost(request),
				(holdAtLeast != null) ? Map.of(request.key(), holdAtLeast) : Map.of());
	}

	private LockedExecution.Terms terms(Collection<LockRequest> requests) {
		Map<LockKey, Duration> holdTimes = new HashMap<>();
		for (LockRequest each : requests) {
			Duration holdAtLeast = this.settings.holdAtLeast(each);
			if (holdAtLeast != null) {
				// A lock that is requested twice is kept for the longer time
				holdTimes.merge(each.key(), holdAtLeast, (one, other) -> (one.compareTo(other) < 0) ? other : one);
			}
		}
		return new LockedExecution.Terms(this.registry,
				(this.onLost != OnLost.DEFAULT) ? this.onLost : this.settings.onLost(requests), holdTimes);
	}

}
