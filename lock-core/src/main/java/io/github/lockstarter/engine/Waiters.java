// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.store.StoreCapabilities;

/**
 * Makes the waiter of each request, and refuses a request that cannot be met.
 */
final class Waiters {

	private final StoreCapabilities capabilities;

	private final Duration defaultWaitTime;

	private final Time time;

	Waiters(StoreCapabilities capabilities, Duration defaultWaitTime, Time time) {
		this.capabilities = capabilities;
		this.defaultWaitTime = defaultWaitTime;
		this.time = time;
	}

	/**
	 * Refuse a request for what the store cannot do.
	 */
	void require(LockRequest request) {
		this.capabilities.require(request);
		requireNoHoldTime(request);
	}

	/**
	 * Refuse a request with a time that only a template applies, because the lock would
	 * be free too early.
	 */
	static void requireNoHoldTime(LockRequest request) {
		if (request.holdAtLeast() != null) {
			throw new IllegalArgumentException("Lock '" + request.key() + "' is requested with 'holdAtLeast', which is"
					+ " for a LockTemplate only; call holdAtLeast(…) on the lease instead");
		}
	}

	/**
	 * Return a waiter for the current thread.
	 */
	ThreadWaiter ofThread(LockRequest request) {
		return ofThread(request, waitTime(request), Thread.currentThread());
	}

	/**
	 * Return a waiter for the current thread that does not wait.
	 * @param otherwise the owner if the request names none
	 */
	ThreadWaiter impatient(LockRequest request, Object otherwise) {
		return ofThread(request, Duration.ZERO, otherwise);
	}

	private ThreadWaiter ofThread(LockRequest request, Duration waitTime, Object otherwise) {
		require(request);
		return new ThreadWaiter(this.time, waitTime, request.mode(), request.leaseTime(), owner(request, otherwise));
	}

	/**
	 * Return a waiter without a thread.
	 * @param otherwise the owner if the request names none
	 */
	FutureWaiter ofFuture(LockRequest request, Object otherwise, Admission admission, EngineThreads threads) {
		require(request);
		return new FutureWaiter(request, waitTime(request), owner(request, otherwise), admission, threads);
	}

	private static Object owner(LockRequest request, Object otherwise) {
		Object owner = request.owner();
		return (owner != null) ? owner : otherwise;
	}

	/**
	 * Return how long a request waits at most.
	 */
	Duration waitTime(AnyLockRequest<?> request) {
		Duration waitTime = request.waitTime();
		return (waitTime != null) ? waitTime : this.defaultWaitTime;
	}

}
