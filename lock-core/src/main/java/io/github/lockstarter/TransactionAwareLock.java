// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A {@link Lock} that outlives the transactions of its thread. While it is locked, the
 * thread holds one more, nested lease of it. If the thread unlocks it inside a
 * transaction, that lease lasts until the end of the transaction.
 */
final class TransactionAwareLock implements Lock {

	private final TransactionAwareLockRegistry registry;

	private final Lock delegate;

	private final LockRequest nested;

	TransactionAwareLock(TransactionAwareLockRegistry registry, Lock delegate, LockKey key, LockMode mode) {
		this.registry = registry;
		this.delegate = delegate;
		this.nested = LockRequest.of(key).withMode(mode).withWaitTime(Duration.ZERO);
	}

	@Override
	public void lock() {
		boolean inTransaction = this.registry.defersRelease(this.nested);
		this.delegate.lock();
		takeNested(inTransaction);
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		boolean inTransaction = this.registry.defersRelease(this.nested);
		this.delegate.lockInterruptibly();
		takeNested(inTransaction);
	}

	@Override
	public boolean tryLock() {
		boolean inTransaction = this.registry.defersRelease(this.nested);
		return this.delegate.tryLock() && takeNested(inTransaction);
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		boolean inTransaction = this.registry.defersRelease(this.nested);
		return this.delegate.tryLock(time, unit) && takeNested(inTransaction);
	}

	private boolean takeNested(boolean inTransaction) {
		// An interrupt that did not prevent the locking must not prevent it now
		boolean interrupted = Thread.interrupted();
		boolean taken = false;
		try {
			this.registry.pushLocked(this.nested, inTransaction);
			taken = true;
			return true;
		}
		finally {
			if (!taken) {
				this.delegate.unlock();
			}
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Override
	public void unlock() {
		Lease lease = this.registry.popLocked(this.nested);
		try {
			this.delegate.unlock();
		}
		finally {
			if (lease != null) {
				lease.close();
			}
		}
	}

	@Override
	public Condition newCondition() {
		return this.delegate.newCondition();
	}

	@Override
	public String toString() {
		return this.delegate.toString();
	}

}
