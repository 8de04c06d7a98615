// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of an acquisition by a {@link LockTemplate}: a lease, or the reason why
 * there is none. It runs the body or a handler, and then ends the run by the rules of the
 * template. {@link LockTemplate} does both for bodies that block or return a future. Use
 * this class for other bodies, such as a reactive chain.
 *
 * <p>
 * Every outcome must be {@linkplain #end ended}; until then its lock is held.
 *
 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
 * @see LockTemplate#acquireAsync
 */
public final class LockOutcome<L extends LeaseSet> {

	private final @Nullable L lease;

	private final @Nullable Throwable reason;

	private final BodyTerms terms;

	private volatile boolean ended;

	/** The loss that interrupted or cancelled the body. */
	private volatile @Nullable LockLostException endedBy;

	LockOutcome(@Nullable L lease, @Nullable Throwable reason, BodyTerms terms) {
		this.lease = lease;
		this.reason = reason;
		this.terms = terms;
	}

	/**
	 * Acquire a lock on the current thread.
	 */
	static <L extends LeaseSet> LockOutcome<L> of(Supplier<L> acquisition, BodyTerms terms) {
		try {
			return new LockOutcome<>(acquisition.get(), null, terms);
		}
		catch (LockException ex) {
			return new LockOutcome<>(null, ex, terms);
		}
	}

	/**
	 * Begin the hold times of a lock that is acquired.
	 */
	static <L extends LeaseSet> LockOutcome<L> ofGrant(L lease, BodyTerms terms) {
		try {
			terms.holdTimes().begin(lease);
			return new LockOutcome<>(lease, null, terms);
		}
		catch (RuntimeException ex) {
			return new LockOutcome<>(null, ex, terms);
		}
	}

	/**
	 * Run the body under the lock, or a handler without it.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that body and handlers may throw
	 * @param body what to run under the lock
	 * @param otherwise what to run instead, without the lock
	 * @return the result of the body, or of the handler that ran instead
	 * @throws X the exception of the body, or of the handler that ran instead
	 * @throws LockException if the lock was not acquired for another reason, or was lost
	 * before the body could begin
	 * @throws CancellationException if this outcome is already ended
	 */
	public <T extends @Nullable Object, X extends Throwable> T fold(
			LockedBody<? super L, ? extends T, ? extends X> body,
			LockFailureHandler<? extends T, ? extends X> otherwise) throws X {
		return this.<T, X>choose((lease) -> {
			lease.ensureHeld();
			return body.run(lease);
		}, otherwise);
	}

	/**
	 * Run one of two steps. The first one gets the lease even if the lock was lost
	 * meanwhile, so that it can close the lease.
	 */
	<T extends @Nullable Object, X extends Throwable> T choose(LockedBody<? super L, ? extends T, ? extends X> body,
			LockFailureHandler<? extends T, ? extends X> otherwise) throws X {
		if (this.ended) {
			throw new CancellationException();
		}
		if (this.lease != null) {
			return body.run(this.lease);
		}
		if (this.reason instanceof LockContendedException contention) {
			return otherwise.handle(contention);
		}
		if (this.reason instanceof LockUnavailableException outage) {
			return otherwise.handle(outage);
		}
		throw LockOutcome.<X>unchecked(Objects.requireNonNull(this.reason));
	}

	/**
	 * Cancel the body if its lock is lost and the template reacts with
	 * {@link OnLost#INTERRUPT}.
	 * @param cancel cancels the body; called on a thread that other callbacks share, so
	 * it should be short
	 */
	public void onLoss(Runnable cancel) {
		if (this.lease != null && this.terms.onLost() == OnLost.INTERRUPT) {
			this.lease.onLost((loss) -> {
				this.endedBy = loss;
				cancel.run();
			});
		}
	}

	/**
	 * End the run and release the lock, without blocking. If the body has succeeded, the
	 * lock is kept for at least {@link LockRequest#holdAtLeast()}. Ending again releases
	 * nothing.
	 * @param failure the failure of the body, or {@code null} if it has succeeded
	 * @return done after the release; fails with the exception for the caller of the
	 * body: its failure, or the loss of the lock
	 */
	public CompletableFuture<Void> end(@Nullable Throwable failure) {
		CompletableFuture<Void> end = new CompletableFuture<>();
		release(failure).whenComplete((nothing, ex) -> {
			Throwable cause = cause(failure, unwrap(ex));
			if (cause != null) {
				end.completeExceptionally(cause);
			}
			else {
				end.complete(null);
			}
		});
		return end;
	}

	private CompletableFuture<Void> release(@Nullable Throwable failure) {
		synchronized (this) {
			if (this.ended || this.lease == null) {
				return CompletableFuture.completedFuture(null);
			}
			this.ended = true;
		}
		try {
			keep(this.lease, failure == null);
		}
		catch (RuntimeException ex) {
			return this.lease.closeAsync().thenCompose((nothing) -> CompletableFuture.failedFuture(ex));
		}
		return this.lease.closeAsync();
	}

	/**
	 * Run a body on the current thread unless its lock is already lost, and interrupt it
	 * on a loss if the template requires it.
	 */
	<T extends @Nullable Object, X extends Throwable> T call(LockedBody<? super L, ? extends T, ? extends X> body,
			L lease) throws X {
		lease.ensureHeld();
		if (this.terms.onLost() != OnLost.INTERRUPT) {
			return body.run(lease);
		}
		LossInterrupter interrupter = new LossInterrupter();
		lease.onLost(interrupter::interrupt);
		try {
			return interrupter.run(body, lease);
		}
		finally {
			this.endedBy = interrupter.getLoss();
		}
	}

	/**
	 * Set how long the lock is kept after its release.
	 */
	void keep(L lease, boolean successful) {
		this.terms.holdTimes().apply(lease, successful);
	}

	/**
	 * Return the exception for the caller of the body, or {@code null} if there is none.
	 * @param failure the failure of the body
	 * @param ofRelease the failure of the release
	 */
	@Nullable Throwable cause(@Nullable Throwable failure, @Nullable Throwable ofRelease) {
		boolean tolerated = this.terms.onLost() == OnLost.LOG && ofRelease instanceof LockLostException;
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

	static @Nullable Throwable unwrap(@Nullable Throwable ex) {
		return (ex instanceof CompletionException && ex.getCause() != null) ? ex.getCause() : ex;
	}

	@SuppressWarnings("unchecked")
	static <X extends Throwable> X unchecked(Throwable ex) {
		return (X) ex;
	}

}
