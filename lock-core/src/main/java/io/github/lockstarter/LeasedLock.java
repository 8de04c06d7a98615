// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A {@link Lock} with a lease, for code that comes from Redisson's {@code RLock} or from
 * the {@code DistributedLock} of Spring Integration. New code is simpler, and learns
 * more, with a {@link LockRequest} and its {@link Lease}.
 *
 * <p>
 * The lock is reentrant and owned by the thread that locks it. All methods that lock
 * throw a {@link LockUnavailableException} when the store cannot be asked, and a
 * {@link LockLostException} if the thread has locked before and the lock was lost since;
 * that is over when the thread has called {@link #unlock()}, or has asked
 * {@link #isHeldByCurrentThread()}.
 *
 * @see LockRegistry#lock(LockKey)
 */
public interface LeasedLock extends Lock {

	/**
	 * Lock with a lease of a fixed length, waiting without an end. See
	 * {@link #tryLock(long, long, TimeUnit)}.
	 * @param leaseTime length of the lease, 10 ms to 365 days
	 * @param unit the unit of the length
	 * @throws IllegalArgumentException if it is shorter or longer
	 */
	void lock(long leaseTime, TimeUnit unit);

	/**
	 * Lock with a lease of a fixed length, which is not renewed: when it is over, others
	 * get the lock, whatever this thread does. A lock that was to expire and has expired
	 * need not be unlocked, and may be locked again. If the thread has locked already, it
	 * shares that lease and its length.
	 * @param waitTime how long to wait; zero or less to not wait
	 * @param leaseTime length of the lease, 10 ms to 365 days; for one that is renewed
	 * use {@link #tryLock(long, TimeUnit)}
	 * @param unit the unit of both times
	 * @return whether the thread has the lock
	 * @throws IllegalArgumentException if the length is shorter or longer
	 * @throws InterruptedException if the thread is interrupted
	 */
	boolean tryLock(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException;

	/**
	 * Return whether the current thread has locked this lock, and not unlocked or lost
	 * it. The store is not asked. After {@code false} the thread must not unlock: what it
	 * has lost is forgotten by this call.
	 */
	boolean isHeldByCurrentThread();

	/**
	 * Release the lock, or one level of it if the thread has locked it several times.
	 * @throws LockLostException if the lock was lost before
	 * @throws IllegalMonitorStateException if the lock is not locked by the thread, or
	 * its lease of a fixed length has expired, which is noticed when the thread locks
	 * another one
	 */
	@Override
	void unlock();

	/**
	 * Not supported.
	 * @throws UnsupportedOperationException always
	 */
	@Override
	Condition newCondition();

}
