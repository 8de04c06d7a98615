// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;

/**
 * One level of a hold, as seen by its owner. Each acquisition returns its own object, so
 * that closing one twice cannot release another.
 */
final class HeldLease implements Lease {

	private final Hold hold;

	private final StoreGateway gateway;

	private final int level;

	/** Whether its end is that of the body. */
	private final boolean body;

	private final AtomicBoolean closed = new AtomicBoolean();

	private HeldLease(Hold hold, StoreGateway gateway, boolean body) {
		this.hold = hold;
		this.level = hold.nextLevel();
		this.gateway = gateway;
		this.body = body;
	}

	/**
	 * Convert the outcome of a waiter to a lease, on a thread that may block.
	 * @param interrupted whether the waiter was interrupted when it had its outcome
	 * @return the lease; {@code null} if another owner held the lock for the whole wait
	 * time, or if the hold was lost on the way, so that the waiter must come again
	 * @throws RuntimeException if the lock is unavailable
	 */
	static @Nullable HeldLease of(Waiter waiter, LockKey key, StoreGateway gateway, boolean interrupted) {
		Waiter.Outcome outcome = waiter.outcome();
		if (outcome instanceof Hold hold) {
			if (!interrupted && hold.isHeld()) {
				boolean first = !waiter.hasReentered();
				if (first) {
					gateway.limit(hold);
					gateway.events().acquired(hold, waiter);
				}
				gateway.endWait(key, waiter, first);
				return new HeldLease(hold, gateway, waiter.hasBody() && first);
			}
			gateway.exit(hold);
			if (!interrupted) {
				OwnerToken left = waiter.renewToken();
				if (left != null) {
					gateway.withdraw(key, left);
				}
				return null;
			}
		}
		if (AcquireFailure.isContention(outcome)) {
			gateway.events().contended(key, waiter, AcquireFailure.holder(outcome));
			gateway.endWait(key, waiter, false);
			return null;
		}
		AcquireFailure failure = (outcome instanceof AcquireFailure given) ? given : AcquireFailure.LEFT;
		RuntimeException exception = failure.exception(key, waiter, gateway.outages());
		gateway.events().failed(key, waiter, exception);
		gateway.endWait(key, waiter, false);
		throw exception;
	}

	Hold hold() {
		return this.hold;
	}

	@Override
	public LockKey key() {
		return this.hold.key();
	}

	@Override
	public long fencingToken() {
		return this.hold.fencingToken();
	}

	@Override
	public LockMode mode() {
		return this.hold.mode();
	}

	@Override
	public boolean isHeld() {
		return !this.closed.get() && this.hold.isHeld();
	}

	@Override
	public void ensureHeld() {
		if (this.closed.get()) {
			throw new IllegalStateException("The lease of lock '" + key() + "' is closed");
		}
		if (!this.hold.isHeld()) {
			throw this.hold.loss();
		}
	}

	@Override
	public Duration remaining() {
		return isHeld() ? Duration.ofNanos(Math.max(0, this.hold.remainingNanos())) : Duration.ZERO;
	}

	@Override
	public void onLost(Consumer<LockLostException> callback) {
		if (!this.closed.get() && !this.hold.onLost(this, callback, CallContext.capture())) {
			callback.accept(this.hold.loss());
		}
	}

	@Override
	public void holdAtLeast(Duration time) {
		if (time.isNegative() || time.compareTo(LockStore.LONGEST_LEASE) > 0) {
			throw new IllegalArgumentException("'time' must not be negative or longer than "
					+ LockStore.LONGEST_LEASE.toDays() + " days, but was " + time);
		}
		if (this.hold.ownership().isShared() && !time.isZero()) {
			throw new IllegalStateException("Lock '" + key() + "' is shared, so one of its owners cannot keep it");
		}
		if (!this.closed.get()) {
			if (!time.isZero()) {
				this.gateway.requireKeeping(key());
			}
			this.hold.holdAtLeast(this.level, time);
		}
	}

	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true)) {
			this.hold.forgetCallbacks(this);
			if (this.body) {
				this.hold.bodyEnded();
			}
			this.gateway.exit(this.hold);
			if (this.hold.isLost()) {
				throw this.hold.loss();
			}
			if (this.hold.beginPublishing()) {
				this.gateway.events().ended(this.hold);
			}
		}
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		return this.gateway.releaseLater(this::close);
	}

	@Override
	public String toString() {
		String state = this.closed.get() ? "closed" : this.hold.isHeld() ? "held" : "lost";
		return "Lease of lock '" + key() + "' (" + ((mode() != LockMode.EXCLUSIVE) ? mode() + ", " : "")
				+ "fencing token " + fencingToken() + ", " + state + ")";
	}

}
