// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Which attempts to acquire a lock may have arrived at a server: those under way, and for
 * simplicity all until the last one that was not certainly kept back.
 */
final class Arrivals {

	private final ConcurrentMap<Long, Integer> underWay = new ConcurrentHashMap<>();

	private final AtomicLong last = new AtomicLong(Long.MIN_VALUE);

	/**
	 * Note an attempt, which may be sent more than once.
	 * @param number number of the attempt, which is larger than those of earlier attempts
	 * @param answer the answer to its request
	 */
	void expect(long number, CompletableFuture<?> answer) {
		this.underWay.merge(number, 1, Integer::sum);
		answer.whenComplete((result, ex) -> {
			if (ex == null || !ScriptErrors.isUnsent(ex)) {
				this.last.accumulateAndGet(number, Math::max);
			}
			this.underWay.computeIfPresent(number, (key, requests) -> (requests > 1) ? requests - 1 : null);
		});
	}

	/**
	 * Return whether an attempt may have arrived, or may still arrive.
	 * @param number number of the attempt
	 */
	boolean mayInclude(long number) {
		return this.underWay.containsKey(number) || number <= this.last.get();
	}

}
