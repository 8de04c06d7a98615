// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;

/**
 * A lock of a registry as a {@link Lock}, owned by the thread that locks it.
 */
final class RegistryLock implements Lock {

	private final Engine engine;

	private final LockKey key;

	private final LockMode mode;

	RegistryLock(Engine engine, LockKey key, LockMode mode) {
		this.engine = engine;
		this.key = key;
		this.mode = mode;
	}

	@Override
	public void lock() {
		obtain(LockRequest.FOREVER, false);
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		obtainInterruptibly(LockRequest.FOREVER);
	}

	@Override
	public boolean tryLock() {
		return obtain(Duration.ZERO, false);
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		return obtainInterruptibly(Duration.ofNanos(Math.max(0, unit.toNanos(time))));
	}

	@Override
	public void unlock() {
		Hold hold = this.engine.holdOfCurrentThread(this.key);
		Lease lease = (hold != null) ? hold.lockedLeases().pop(this.mode) : null;
		if (lease == null) {
			throw new IllegalMonitorStateException(
					"Lock '" + this.key + "' was not locked by thread '" + Thread.currentThread().getName() + "'");
		}
		lease.close();
	}

	@Override
	public Condition newCondition() {
		throw new UnsupportedOperationException("A distributed lock has no conditions");
	}

	@Override
	public String toString() {
		return "Lock '" + this.key + "' (" + this.mode + ")";
	}

	private boolean obtainInterruptibly(Duration waitTime) throws InterruptedException {
		try {
			return obtain(waitTime, true);
		}
		catch (LockInterruptedException ex) {
			Thread.interrupted();
			InterruptedException interrupted = new InterruptedException(ex.getMessage());
			interrupted.initCause(ex);
			throw interrupted;
		}
	}

	private boolean obtain(Duration waitTime, boolean interruptible) {
		HeldLease lease = this.engine.obtain(this.key, this.mode, waitTime, interruptible);
		if (lease == null) {
			return false;
		}
		Hold hold = lease.hold();
		hold.lockedLeases().push(this.mode, lease);
		// The fixed lease of an outer level may have expired before the hold knew of this
		// level
		if (hold.isFixed() && !hold.isHeld()) {
			hold.lockedLeases().pop(this.mode);
			lease.close();
			throw hold.loss();
		}
		return true;
	}

}
