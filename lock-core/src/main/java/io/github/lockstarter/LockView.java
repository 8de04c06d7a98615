// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * A lock of a registry as a {@link Lock}, owned by the thread that locks it.
 */
final class LockView implements LeasedLock {

	/** What a thread has locked. */
	private static final ThreadLocal<Map<Id, Locked>> LOCKED = ThreadLocal.withInitial(() -> new HashMap<>(2));

	private final LockRegistry registry;

	private final LockRequest request;

	private final Id id;

	LockView(LockRegistry registry, LockKey key, LockMode mode) {
		this.registry = registry;
		this.request = LockRequest.of(key).withMode(mode);
		this.id = new Id(registry, key, mode);
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * An interrupt costs the thread its place among those that wait.
	 */
	@Override
	public void lock() {
		uninterruptibly(() -> lock(LockRequest.FOREVER, null));
	}

	@Override
	public void lock(long leaseTime, TimeUnit unit) {
		Duration lease = Duration.ofNanos(unit.toNanos(leaseTime));
		uninterruptibly(() -> lock(LockRequest.FOREVER, lease));
	}

	@Override
	public boolean tryLock() {
		return uninterruptibly(() -> lock(Duration.ZERO, null));
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		interruptibly(() -> lock(LockRequest.FOREVER, null));
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		Duration waitTime = waitTime(time, unit);
		return interruptibly(() -> lock(waitTime, null));
	}

	@Override
	public boolean tryLock(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException {
		Duration wait = waitTime(waitTime, unit);
		Duration lease = Duration.ofNanos(unit.toNanos(leaseTime));
		return interruptibly(() -> lock(wait, lease));
	}

	private static Duration waitTime(long time, TimeUnit unit) {
		return Duration.ofNanos(Math.max(0, unit.toNanos(time)));
	}

	private static boolean uninterruptibly(BooleanSupplier locking) {
		boolean interrupted = Thread.interrupted();
		try {
			while (true) {
				try {
					return locking.getAsBoolean();
				}
				catch (LockInterruptedException ex) {
					interrupted |= Thread.interrupted();
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private static boolean interruptibly(BooleanSupplier locking) throws InterruptedException {
		try {
			return locking.getAsBoolean();
		}
		catch (LockInterruptedException ex) {
			Thread.interrupted();
			InterruptedException interrupted = new InterruptedException(ex.getMessage());
			interrupted.initCause(ex);
			throw interrupted;
		}
	}

	private boolean lock(Duration waitTime, @Nullable Duration leaseTime) {
		LockRequest request = this.request.withWaitTime(waitTime);
		LockRequest leased = (leaseTime != null) ? request.withLeaseTime(leaseTime) : request;
		Map<Id, Locked> all = LOCKED.get();
		// Nobody has to unlock what was to expire, so this is where it is forgotten
		all.values().removeIf((locked) -> locked.expires() && !locked.isHeld());
		Locked locked = all.get(this.id);
		if (locked != null) {
			// The thread still counts on what it has locked before
			locked.last().ensureHeld();
		}
		if (!waitTime.equals(LockRequest.FOREVER) && isOnlyRead(all)) {
			return false;
		}
		Lease lease = waitTime.equals(LockRequest.FOREVER) ? this.registry.acquire(leased)
				: this.registry.tryAcquire(leased).orElse(null);
		if (lease != null) {
			all.computeIfAbsent(this.id, (id) -> new Locked(leaseTime != null, new ArrayDeque<>(1)))
				.leases()
				.push(lease);
		}
		return lease != null;
	}

	/** Other owners are no reason to wait: the thread itself is in the way. */
	private boolean isOnlyRead(Map<Id, Locked> all) {
		Locked read = all.get(new Id(this.registry, this.id.key(), LockMode.READ));
		return this.id.mode() != LockMode.READ && read != null && read.isHeld() && read.last().mode() == LockMode.READ;
	}

	@Override
	public void unlock() {
		Map<Id, Locked> all = LOCKED.get();
		Locked locked = all.get(this.id);
		if (locked == null) {
			throw new IllegalMonitorStateException("Lock '" + this.request.key() + "' is not locked by thread '"
					+ Thread.currentThread().getName() + "', or its lease has expired");
		}
		Lease lease = locked.leases().pop();
		if (locked.leases().isEmpty()) {
			all.remove(this.id);
		}
		lease.close();
	}

	@Override
	public boolean isHeldByCurrentThread() {
		Map<Id, Locked> all = LOCKED.get();
		Locked locked = all.get(this.id);
		if (locked == null || locked.isHeld()) {
			return locked != null;
		}
		// A caller that is told so does not unlock, and could never lock again
		all.remove(this.id);
		locked.leases().forEach(LockView::closeLost);
		return false;
	}

	private static void closeLost(Lease lease) {
		try {
			lease.close();
		}
		catch (LockLostException ex) {
			// This is what the caller is told
		}
	}

	@Override
	public Condition newCondition() {
		throw new UnsupportedOperationException("A distributed lock has no conditions");
	}

	@Override
	public String toString() {
		return "Lock '" + this.request.key() + "' (" + this.request.mode() + ")";
	}

	/**
	 * What any two views of the same lock have in common.
	 *
	 * @param registry the registry of the lock, compared by identity unless it says
	 * otherwise
	 * @param key which lock
	 * @param mode its mode
	 */
	private record Id(LockRegistry registry, LockKey key, LockMode mode) {
	}

	/**
	 * A lock that a thread has locked, once or several times.
	 *
	 * @param expires whether the outermost lease was given a length
	 * @param leases the last one first
	 */
	private record Locked(boolean expires, Deque<Lease> leases) {

		Lease last() {
			return this.leases.getFirst();
		}

		boolean isHeld() {
			return last().isHeld();
		}

	}

	/**
	 * A lock of a registry as a {@link ReadWriteLock}.
	 *
	 * @param readLock for shared owners
	 * @param writeLock for exclusive owners
	 */
	record BothSides(Lock readLock, Lock writeLock) implements ReadWriteLock {

		static BothSides of(LockRegistry registry, LockKey key) {
			return new BothSides(new LockView(registry, key, LockMode.READ),
					new LockView(registry, key, LockMode.WRITE));
		}

	}

}
