// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;

/**
 * A waiter without a thread: its outcome completes a future. Cancelling the future, or
 * completing it in another way, ends the wait.
 */
final class FutureWaiter extends Waiter {

	private static final Log logger = LogFactory.getLog(FutureWaiter.class);

	private final LockKey key;

	private final StoreGateway gateway;

	private final Timetable timetable;

	private final Executor tasks;

	private final CompletableFuture<Lease> result;

	private final AtomicBoolean concluded = new AtomicBoolean();

	private volatile Timetable.@Nullable Entry timeOut;

	FutureWaiter(Terms terms, LockRequest limited, Duration waitTime, Object owner, StoreGateway gateway,
			EngineThreads threads) {
		super(terms, waitTime, limited.mode(), limited.leaseTime(), limited.holdAtMost(), owner);
		this.key = limited.key();
		this.gateway = gateway;
		this.timetable = threads.timetable();
		this.tasks = threads.tasks();
		this.result = new FutureLease<>(CallContext.capture().on(threads.bodies()));
	}

	/**
	 * Begin on the current thread, without blocking it.
	 * @return the future lease
	 */
	CompletableFuture<Lease> begin() {
		this.result.whenComplete((lease, ex) -> {
			if (!(lease instanceof HeldLease)) {
				this.gateway.leave(this.key, this, false);
			}
		});
		this.gateway.beginWait(this);
		arrive();
		return this.result;
	}

	private void arrive() {
		try {
			this.gateway.arrive(this.key, this);
		}
		catch (RuntimeException | Error ex) {
			arrivalFailed(ex);
		}
		Outcome outcome = outcome();
		if (outcome instanceof AcquireFailure || (outcome instanceof Hold hold && hold.isHeld())) {
			// None of these steps blocks
			if (beginConclusion()) {
				conclude();
			}
		}
		else if (outcome != null) {
			wake();
		}
		else if (!isEndless()) {
			this.timeOut = this.timetable.at(deadline(), () -> this.gateway.leave(this.key, this, true));
		}
		// A cancellation before its arrival has not ended its wait
		if (this.result.isDone()) {
			this.gateway.leave(this.key, this, false);
		}
		if (outcome() != null) {
			cancelTimeOut();
		}
	}

	private void arrivalFailed(Throwable failure) {
		if (this.concluded.compareAndSet(false, true)) {
			this.gateway.abandon(this.key, this, failure);
			conclude();
		}
		else {
			// Another thread already gives the caller its lease
			logger.error("A step after the grant of lock '" + this.key + "' failed", failure);
		}
	}

	private void cancelTimeOut() {
		Timetable.Entry timeOut = this.timeOut;
		if (timeOut != null) {
			this.timetable.cancel(timeOut);
		}
	}

	@Override
	boolean execute(Runnable step, boolean blocking) {
		if (!blocking) {
			step.run();
		}
		return !blocking;
	}

	@Override
	void wake() {
		if (beginConclusion()) {
			this.tasks.execute(this::conclude);
		}
	}

	/**
	 * Return whether the caller must conclude the outcome, which one of several callers
	 * does. A late call for an earlier outcome must not conclude before there is a new
	 * one.
	 */
	private boolean beginConclusion() {
		while (outcome() != null && this.concluded.compareAndSet(false, true)) {
			if (outcome() != null) {
				return true;
			}
			// The waiter has come again since the first look
			this.concluded.set(false);
		}
		return false;
	}

	private void conclude() {
		cancelTimeOut();
		try {
			Lease lease = HeldLease.of(this, this.key, this.gateway, false);
			if (lease == null && outcome() instanceof AcquireFailure) {
				this.result.completeExceptionally(AcquireFailure.contention(this.key, this));
			}
			else if (lease == null) {
				reset();
				this.concluded.set(false);
				arrive();
			}
			else if (!this.result.complete(lease)) {
				release(lease);
			}
		}
		catch (Throwable ex) {
			this.result.completeExceptionally(ex);
		}
	}

	private static void release(Lease lease) {
		try {
			lease.close();
		}
		catch (LockLostException ex) {
			// No body has run under the lock
		}
	}

}
