// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;

/**
 * The owners of the locks that a part of a reactive chain requests, found in the context
 * of the chain. Nested parts share an owner, so a nested acquisition is reentrant.
 * Concurrent branches have different owners, so they exclude each other.
 *
 * @param byLock the owner of each lock
 */
record ChainOwners(Map<Enclosing, Work> byLock) {

	/**
	 * Return the owners of the locks of a request.
	 * @param context returns the value of a key in the context of the chain, or the given
	 * default
	 */
	static ChainOwners of(AnyLockRequest<?> request, BiFunction<Enclosing, Work, Work> context) {
		Work work = new Work();
		Map<Enclosing, Work> byLock = new HashMap<>();
		for (LockRequest each : requests(request)) {
			Enclosing enclosing = new Enclosing(each.key());
			byLock.put(enclosing, context.apply(enclosing, work));
		}
		return new ChainOwners(byLock);
	}

	/**
	 * Return a request on behalf of these owners.
	 */
	AnyLockRequest<?> requestOf(AnyLockRequest<?> request) {
		List<LockRequest> owned = requests(request).stream().map(this::owned).toList();
		return (request instanceof LockSetRequest set) ? new LockSetRequest(owned, set.waitTime()) : owned.get(0);
	}

	private LockRequest owned(LockRequest request) {
		return request.withOwner(Objects.requireNonNull(this.byLock.get(new Enclosing(request.key()))));
	}

	/**
	 * Return the loss of a lock that the chain still runs under, or {@code null}. A lost
	 * lock must not be acquired again before that part of the chain has ended.
	 */
	@Nullable LockLostException loss() {
		for (Map.Entry<Enclosing, Work> each : this.byLock.entrySet()) {
			LockLostException loss = each.getValue().lossOf(each.getKey().key());
			if (loss != null) {
				return loss;
			}
		}
		return null;
	}

	/**
	 * Record the lease of this part, unless an outer part of the chain holds one.
	 */
	void runUnder(LeaseSet lease) {
		this.byLock.values().forEach((work) -> work.runUnder(lease));
	}

	private static List<LockRequest> requests(AnyLockRequest<?> request) {
		return (request instanceof LockSetRequest set) ? set.requests() : List.of((LockRequest) request);
	}

	/**
	 * The key of a lock's owner in the context of a chain.
	 *
	 * @param key the lock
	 */
	record Enclosing(LockKey key) {
	}

	/**
	 * A part of a chain that owns locks.
	 */
	static final class Work {

		private volatile @Nullable LeaseSet lease;

		private void runUnder(LeaseSet lease) {
			if (this.lease == null) {
				this.lease = lease;
			}
		}

		private @Nullable LockLostException lossOf(LockKey key) {
			LeaseSet lease = this.lease;
			if (lease == null) {
				return null;
			}
			try {
				lease.all().stream().filter((each) -> each.key().equals(key)).forEach(Lease::ensureHeld);
				return null;
			}
			catch (LockLostException ex) {
				return ex;
			}
			catch (IllegalStateException ex) {
				// The work has closed its own lease
				return null;
			}
		}

	}

}
