// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;

/**
 * Grants every lock at once and to every owner, without a store, for an application with
 * {@code distributed-lock.enabled=false}. Leases have growing fencing tokens and are held
 * until they are closed.
 */
public final class DisabledLockRegistry implements LockRegistry {

	private static final Instant EPOCH = Instant.parse("2024-01-01T00:00:00Z");

	private static final int HOLD_BITS = 12;

	private final AtomicLong lastToken = new AtomicLong();

	@Override
	public Lease acquire(LockRequest request) {
		Waiters.requireNoHoldTime(request);
		return grant(request.key());
	}

	@Override
	public LeaseSet acquireAll(LockSetRequest request) {
		return new HeldLeases(request.requests().stream().map(this::acquire).toList(), Runnable::run);
	}

	private Lease grant(LockKey key) {
		return new DisabledLease(key, nextToken());
	}

	/**
	 * Return a token that continues those of a store, which are based on the time as
	 * well.
	 */
	private long nextToken() {
		long now = EPOCH.until(Instant.now(), ChronoUnit.MICROS) << HOLD_BITS;
		return this.lastToken.updateAndGet((last) -> Math.max(last + 1, now));
	}

	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		return Optional.of(acquire(request));
	}

	@Override
	public Optional<LeaseSet> tryAcquireAll(LockSetRequest request) {
		return Optional.of(acquireAll(request));
	}

	@Override
	public CompletableFuture<Lease> acquireAsync(LockRequest request) {
		return completed(acquire(request));
	}

	@Override
	public CompletableFuture<LeaseSet> acquireAllAsync(LockSetRequest request) {
		return completed(acquireAll(request));
	}

	private static <L extends LeaseSet> CompletableFuture<L> completed(L lease) {
		CompletableFuture<L> future = new CompletableFuture<>();
		future = new FutureLease<>(CallContext.capture().on(future.defaultExecutor()));
		future.complete(lease);
		return future;
	}

	@Override
	public Lock lock(LockKey key) {
		return new DisabledLock();
	}

	@Override
	public ReadWriteLock readWriteLock(LockKey key) {
		return new ReadWriteLock() {

			@Override
			public Lock readLock() {
				return new DisabledLock();
			}

			@Override
			public Lock writeLock() {
				return new DisabledLock();
			}

		};
	}

	/** A lock that any number of threads can hold at the same time. */
	private static final class DisabledLock implements Lock {

		@Override
		public void lock() {
		}

		@Override
		public void lockInterruptibly() throws InterruptedException {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
		}

		@Override
		public boolean tryLock() {
			return true;
		}

		@Override
		public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
			lockInterruptibly();
			return true;
		}

		@Override
		public void unlock() {
		}

		@Override
		public Condition newCondition() {
			throw new UnsupportedOperationException("A distributed lock has no conditions");
		}

	}

}
