// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

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

	private final FreshReads reads;

	private final TransactionFencing transactionFencing;

	/**
	 * Create a template that throws a {@link LockLostException} when a lease is lost,
	 * unless the settings of the lock's name say otherwise.
	 * @param registry acquires the locks
	 */
	public LockTemplate(LockRegistry registry) {
		this(TransactionAwareLockRegistry.unwrap(registry), OnLost.DEFAULT,
				FreshReads.byDefault(OnActiveTransaction.DEFER, OnPersistenceContext.ISOLATE),
				TransactionFencing.DEFAULT);
	}

	private LockTemplate(LockRegistry registry, OnLost onLost, FreshReads reads,
			TransactionFencing transactionFencing) {
		this.registry = registry;
		this.settings = LockSettings.of(registry);
		this.onLost = onLost;
		this.reads = reads;
		this.transactionFencing = transactionFencing;
	}

	/**
	 * Return a template with another reaction to a lost lease.
	 * @param onLost the reaction
	 */
	public LockTemplate withOnLost(OnLost onLost) {
		return new LockTemplate(this.registry, onLost, this.reads, this.transactionFencing);
	}

	/**
	 * Return a template with another reaction to a transaction that is already active.
	 * Any value other than {@link OnActiveTransaction#DEFAULT} says that the caller
	 * expects such transactions, and ends the warning of reads before the lock.
	 * @param onActiveTransaction the reaction
	 */
	public LockTemplate withOnActiveTransaction(OnActiveTransaction onActiveTransaction) {
		return new LockTemplate(this.registry, this.onLost, this.reads.with(onActiveTransaction),
				this.transactionFencing);
	}

	/**
	 * Return a template with another reaction to an open persistence context.
	 * @param persistenceContext the reaction
	 */
	public LockTemplate withPersistenceContext(OnPersistenceContext persistenceContext) {
		return new LockTemplate(this.registry, this.onLost, this.reads.with(persistenceContext),
				this.transactionFencing);
	}

	/**
	 * Return a template that decides whether transactions claim the fencing token.
	 * @param transactionFencing whether they do
	 */
	public LockTemplate withTransactionFencing(TransactionFencing transactionFencing) {
		return new LockTemplate(this.registry, this.onLost, this.reads, transactionFencing);
	}

	/**
	 * Return a template with other reactions where {@code DEFAULT} is chosen. For
	 * configuration; code that uses a template chooses its reactions with the methods
	 * above.
	 * @param onActiveTransaction the reaction to a transaction that is already active
	 * @param persistenceContext the reaction to an open persistence context
	 */
	public LockTemplate withDefaults(OnActiveTransaction onActiveTransaction, OnPersistenceContext persistenceContext) {
		return new LockTemplate(this.registry, this.onLost,
				this.reads.withDefaults(onActiveTransaction, persistenceContext), this.transactionFencing);
	}

	/**
	 * Return a template for one caller, which warnings name instead of the lock. For
	 * advice that acquires the locks of a method.
	 * @param caller the method, for messages
	 */
	public LockTemplate forCaller(String caller) {
		return new LockTemplate(this.registry, this.onLost, this.reads.forCaller(caller), this.transactionFencing);
	}

	/**
	 * Run the body under the lock.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param <X> the type of exception that the body may throw
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @return the body's result
	 * @throws X the exception of the body; the loss of a lease is then a suppressed
	 * exception
	 * @throws LockException if the lock could not be acquired, or was lost; see
	 * {@link LockRegistry#acquire}
	 */
	public <L extends LeaseSet, T extends @Nullable Object, X extends Throwable> T execute(AnyLockRequest<L> request,
			LockedBody<L, T, X> body) throws X {
		return executeOrElse(request, body, (contention) -> {
			throw contention;
		});
	}

	/**
	 * Run a body without a result under the lock.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <X> the type of exception that the body may throw
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @throws X the exception of the body; the loss of a lease is then a suppressed
	 * exception
	 * @throws LockException if the lock could not be acquired, or was lost; see
	 * {@link LockRegistry#acquire}
	 */
	public <L extends LeaseSet, X extends Throwable> void executeWithoutResult(AnyLockRequest<L> request,
			LockedAction<L, X> body) throws X {
		this.<L, @Nullable Void, X>execute(request, (lease) -> {
			body.run(lease);
			return null;
		});
	}

	/**
	 * Run the body under the lock, or a handler when another owner held the lock for the
	 * whole wait time. A {@link LockContendedException} thrown by the body itself is not
	 * handled.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param <X> the type of exception that body and handler may throw
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @param onContention what to run instead, without the lock
	 * @return the result of the body, or of the handler that ran instead
	 * @throws X the exception of the body, or of the handler that ran instead
	 * @throws LockException if the store could not be asked, or the lock was lost
	 */
	public <L extends LeaseSet, T extends @Nullable Object, X extends Throwable> T executeOrElse(
			AnyLockRequest<L> request, LockedBody<L, T, X> body, ContentionHandler<T, X> onContention) throws X {
		return executeOrElse(request, body, onContention, (outage) -> {
			throw outage;
		});
	}

	/**
	 * Run the body under the lock, or one handler when another owner held the lock for
	 * the whole wait time and another handler when the store could not be asked. What the
	 * body itself throws is not handled, nor is an interrupt.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param <X> the type of exception that body and handlers may throw
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @param onContention what to run on contention, without the lock
	 * @param onOutage what to run on an outage, without the lock
	 * @return the result of the body, or of the handler that ran instead
	 * @throws X the exception of the body, or of the handler that ran instead
	 * @throws LockException if the wait was interrupted, or the lock was lost
	 */
	public <L extends LeaseSet, T extends @Nullable Object, X extends Throwable> T executeOrElse(
			AnyLockRequest<L> request, LockedBody<L, T, X> body, ContentionHandler<T, X> onContention,
			OutageHandler<T, X> onOutage) throws X {
		AnyLockRequest<L> complete = this.settings.forBody(request);
		boolean untilCompletion = this.reads.defersRelease(complete, this.registry);
		LockedBody<L, T, X> isolated = this.reads.isolated(complete, this.registry, body);
		LockOutcome<L> outcome = LockOutcome.of(() -> acquire(complete), terms(complete));
		return new ThreadExecution<L>(outcome, untilCompletion).run(isolated, onContention, onOutage);
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
	 * {@linkplain AnyLockRequest#withOwner owner}: a body that waits for the same lock
	 * waits for itself. A transaction of the current thread does not extend to the body,
	 * so {@link OnActiveTransaction} has no effect. With {@link OnLost#INTERRUPT} a loss
	 * also cancels the future of the body.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @return the result, done after the lock is released. It fails with the exception of
	 * the body or of the body's future, and as {@link LockRegistry#acquireAsync} and
	 * {@link Lease#closeAsync} do
	 */
	public <L extends LeaseSet, T extends @Nullable Object> CompletableFuture<T> executeAsync(AnyLockRequest<L> request,
			LockedBody<L, ? extends CompletionStage<T>, ?> body) {
		return executeAsyncOrElse(request, body, (contention) -> {
			throw contention;
		}, (outage) -> {
			throw outage;
		});
	}

	/**
	 * Run a body that returns a future under the lock as {@link #executeAsync} does, or
	 * one handler when another owner held the lock for the whole wait time and another
	 * handler when the store could not be asked.
	 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
	 * @param <T> the type of the result
	 * @param request which lock or locks, and how long to wait
	 * @param body what to run
	 * @param onContention what to run on contention, without the lock
	 * @param onOutage what to run on an outage, without the lock
	 * @return the result of the body, or of the handler that ran instead
	 */
	public <L extends LeaseSet, T extends @Nullable Object> CompletableFuture<T> executeAsyncOrElse(
			AnyLockRequest<L> request, LockedBody<L, ? extends CompletionStage<T>, ?> body,
			ContentionHandler<? extends CompletionStage<T>, ?> onContention,
			OutageHandler<? extends CompletionStage<T>, ?> onOutage) {
		return new AsyncExecution<L, T>(body, onContention, onOutage).after(futureOutcome(request));
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
		return futureOutcome(request);
	}

	@SuppressWarnings("unchecked")
	private <L extends LeaseSet> FutureOutcome<L> futureOutcome(AnyLockRequest<L> request) {
		AnyLockRequest<L> complete = this.settings.forBody(request);
		BodyTerms terms = terms(complete);
		AnyLockRequest<L> plain = terms.holdTimes().without(complete);
		CompletableFuture<L> acquisition = (CompletableFuture<L>) ((plain instanceof LockRequest one)
				? this.registry.acquireAsync(one) : this.registry.acquireAllAsync((LockSetRequest) plain));
		return new FutureOutcome<>(acquisition, terms);
	}

	/**
	 * Acquire the lock, unless an outer body on this thread has lost it: the registry
	 * does not know that the outer body still runs, and would acquire the lock anew.
	 */
	@SuppressWarnings("unchecked")
	private <L extends LeaseSet> L acquire(AnyLockRequest<L> request) {
		LeaseContext.ensureNotLost(request);
		HoldTimes holdTimes = HoldTimes.of(request);
		AnyLockRequest<L> plain = holdTimes.without(request);
		L lease = (L) ((plain instanceof LockRequest one) ? this.registry.acquire(one)
				: this.registry.acquireAll((LockSetRequest) plain));
		holdTimes.begin(lease);
		return lease;
	}

	private BodyTerms terms(AnyLockRequest<?> request) {
		OnLost onLost = (this.onLost != OnLost.DEFAULT) ? this.onLost : this.settings.onLost(request);
		return BodyTerms.of(request, onLost, this.transactionFencing);
	}

}
