// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;

/**
 * Takes several locks together or not at all. If all of them are free and the store can
 * grant them at once, one request is enough. Else they are taken one by one in an order
 * that is the same everywhere, so that nobody can wait for somebody who waits for it.
 */
final class ManyLocks {

	private static final Log logger = LogFactory.getLog(ManyLocks.class);

	private final BiFunction<List<LockRequest>, Duration, @Nullable List<Lease>> atOnce;

	private final Function<LockRequest, @Nullable Lease> oneByOne;

	private final Executor tasks;

	/**
	 * Create it.
	 * @param atOnce takes locks that are free within a wait time, or gives {@code null}
	 * @param oneByOne takes one lock, waiting for it, or gives {@code null}
	 * @param tasks run what may block
	 */
	ManyLocks(BiFunction<List<LockRequest>, Duration, @Nullable List<Lease>> atOnce,
			Function<LockRequest, @Nullable Lease> oneByOne, Executor tasks) {
		this.atOnce = atOnce;
		this.oneByOne = oneByOne;
		this.tasks = tasks;
	}

	/**
	 * Take all locks of a request.
	 * @param waitTime for all of them
	 * @return the lease of all
	 * @throws LockContendedException if one of them could not be had
	 */
	Lease acquire(LockRequest request, Duration waitTime) {
		long start = System.nanoTime();
		List<LockRequest> requests = inOrder(request.all());
		List<Lease> leases = this.atOnce.apply(requests, waitTime);
		return new HeldLeases((leases != null) ? leases : acquireOneByOne(requests, waitTime, start), this.tasks);
	}

	private List<Lease> acquireOneByOne(List<LockRequest> requests, Duration waitTime, long start) {
		List<Lease> leases = new ArrayList<>(requests.size());
		boolean complete = false;
		try {
			for (LockRequest request : requests) {
				Duration left = waitTime.minusNanos(System.nanoTime() - start);
				if (left.isNegative() && !waitTime.isZero() && !leases.isEmpty()) {
					throw new LockContendedException(request.key(), waitTime.minus(left));
				}
				Lease lease = this.oneByOne.apply(request.withWaitTime(left.isNegative() ? Duration.ZERO : left));
				if (lease == null) {
					throw new LockContendedException(request.key(), Duration.ofNanos(System.nanoTime() - start));
				}
				leases.add(lease);
			}
			complete = true;
			return leases;
		}
		finally {
			if (!complete) {
				giveBack(leases);
			}
		}
	}

	/**
	 * Give back what was taken, as not all could be had.
	 */
	static void giveBack(List<Lease> leases) {
		try {
			new HeldLeases(List.copyOf(leases), Runnable::run).close();
		}
		catch (LockLostException ex) {
			logger.debug("A lock was lost while others were waited for", ex);
		}
	}

	/**
	 * Return the requests in the order of their locks, each lock once.
	 */
	static List<LockRequest> inOrder(Collection<LockRequest> requests) {
		Map<LockKey, LockRequest> sorted = new TreeMap<>(Comparator.comparing(LockKey::toString));
		requests.forEach((request) -> sorted.merge(request.key(), request, ManyLocks::stronger));
		return List.copyOf(sorted.values());
	}

	private static LockRequest stronger(LockRequest one, LockRequest other) {
		if (one.mode() == LockMode.FAIR || other.mode() == LockMode.FAIR) {
			return (one.mode() == LockMode.FAIR) ? one : other;
		}
		return one.mode() == LockMode.READ ? other : one;
	}

}
