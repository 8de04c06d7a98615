// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;

/**
 * Makes the waiter of each request, with the settings of the lock's name where the
 * request leaves them open, and refuses a request that cannot be met.
 */
final class Waiters {

	private final StoreCapabilities capabilities;

	private final LockSettings settings;

	private final Duration defaultWaitTime;

	private final Terms terms;

	Waiters(StoreCapabilities capabilities, LockSettings settings, Duration defaultWaitTime, Terms terms) {
		this.capabilities = capabilities;
		this.settings = settings;
		this.defaultWaitTime = defaultWaitTime;
		this.terms = terms;
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
		require(request);
		LockRequest limited = this.settings.limit(request);
		ThreadWaiter waiter = new ThreadWaiter(this.terms, waitTime(request), request.mode(), limited.leaseTime(),
				limited.holdAtMost(), owner(request, Thread.currentThread()));
		waiter.setBody(request.body() != null);
		return waiter;
	}

	/**
	 * Return a waiter without a thread.
	 * @param otherwise the owner if the request names none
	 */
	FutureWaiter ofFuture(LockRequest request, Object otherwise, Admission admission, EngineThreads threads) {
		require(request);
		FutureWaiter waiter = new FutureWaiter(this.terms, this.settings.limit(request), waitTime(request),
				owner(request, otherwise), admission, threads);
		waiter.setBody(request.body() != null);
		return waiter;
	}

	private static Object owner(LockRequest request, Object otherwise) {
		Object owner = request.owner();
		return (owner != null) ? owner : otherwise;
	}

	private Duration waitTime(LockRequest request) {
		Duration waitTime = (request.waitTime() != null) ? request.waitTime() : waitTimeOfName(request);
		return (waitTime != null) ? waitTime : this.defaultWaitTime;
	}

	/**
	 * Return how long requests for several locks wait for all of them: as one of them
	 * says, or else the shortest time in the settings of their names.
	 */
	Duration waitTime(List<LockRequest> requests) {
		Duration shortest = null;
		for (LockRequest each : requests) {
			if (each.waitTime() != null) {
				return each.waitTime();
			}
			Duration ofName = waitTimeOfName(each);
			if (ofName != null && (shortest == null || ofName.compareTo(shortest) < 0)) {
				shortest = ofName;
			}
		}
		return (shortest != null) ? shortest : this.defaultWaitTime;
	}

	private @Nullable Duration waitTimeOfName(LockRequest request) {
		return this.settings.get(request.key().name()).waitTime();
	}

}
