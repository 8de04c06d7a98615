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
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A lock of a registry as a {@link Lock}, owned by the thread that locks it.
 */
final class LockView implements Lock {

	/** The leases of the locks that a thread has locked, the last one first. */
	private static final ThreadLocal<Map<Id, Deque<Lease>>> LEASES = ThreadLocal.withInitial(() -> new HashMap<>(2));

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
		uninterruptibly(() -> lock(() -> this.registry.acquire(this.request.withWaitTime(LockRequest.FOREVER))));
	}

	@Override
	public boolean tryLock() {
		return uninterruptibly(() -> lock(() -> tryAcquire(Duration.ZERO)));
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		interruptibly(() -> lock(() -> this.registry.acquire(this.request.withWaitTime(LockRequest.FOREVER))));
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		Duration waitTime = Duration.ofNanos(Math.max(0, unit.toNanos(time)));
		return interruptibly(() -> lock(() -> tryAcquire(waitTime)));
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

	private @Nullable Lease tryAcquire(Duration waitTime) {
		return this.registry.tryAcquire(this.request.withWaitTime(waitTime)).orElse(null);
	}

	private boolean lock(Supplier<@Nullable Lease> acquisition) {
		Deque<Lease> locked = locked();
		try {
			Lease last = locked.peek();
			if (last != null && !last.isHeld()) {
				// The thread still counts on what it has locked before
				last.ensureHeld();
			}
			Lease lease = acquisition.get();
			if (lease != null) {
				locked.push(lease);
			}
			return lease != null;
		}
		finally {
			forgetUnlocked(locked);
		}
	}

	/**
	 * Return the leases of this lock that the current thread has acquired by locking it.
	 */
	private Deque<Lease> locked() {
		return LEASES.get().computeIfAbsent(this.id, (id) -> new ArrayDeque<>(1));
	}

	private void forgetUnlocked(Deque<Lease> locked) {
		if (locked.isEmpty()) {
			LEASES.get().remove(this.id);
		}
	}

	@Override
	public void unlock() {
		Deque<Lease> locked = locked();
		Lease lease = locked.poll();
		forgetUnlocked(locked);
		if (lease == null) {
			throw new IllegalMonitorStateException("Lock '" + this.request.key() + "' was not locked by thread '"
					+ Thread.currentThread().getName() + "'");
		}
		lease.close();
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
