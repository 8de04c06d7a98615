// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

/**
 * Base class for a store that answers on the calling thread, such as one in a database.
 * Three methods are enough for a store with exclusive locks, for which waiters poll; no
 * instance starves the others (see {@link #waitingLine()}). Further capabilities are
 * declared as by any {@link LockStore}.
 *
 * <p>
 * Each of the methods is atomic, answers within a few seconds, and throws an exception if
 * the outcome is not known. Each can be repeated with the same owner without harm.
 */
public abstract class BlockingLockStore implements LockStore {

	/**
	 * Grant a lock to an owner if no other owner holds it. If this owner already holds
	 * it, grant a full lease with the same fencing base.
	 * @param request the lock, its owner and the length of the lease
	 * @return an {@link AcquireResult.Grant} or an {@link AcquireResult.Refusal}
	 */
	protected abstract AcquireResult tryAcquire(LeaseRequest request);

	/**
	 * Extend a lease to its full length from now on. With a lease time of zero, only
	 * check whether the owner holds the lock.
	 * @param request the lock, its owner and the length of the lease
	 * @return whether the owner holds the lock; if not, nothing is changed
	 */
	protected abstract boolean tryRenew(LeaseRequest request);

	/**
	 * Release a lock.
	 * @param key the lock
	 * @param owner the owner that releases it
	 * @return whether the owner held the lock; if not, nothing is changed
	 */
	protected abstract boolean tryRelease(LockKey key, OwnerToken owner);

	@Override
	public Set<LockMode> modes() {
		return Set.of(LockMode.EXCLUSIVE, LockMode.WRITE);
	}

	@Override
	public final CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
		return answer(() -> tryAcquire(request));
	}

	@Override
	public final List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		return requests.stream().map((request) -> answer(() -> tryRenew(request))).toList();
	}

	@Override
	public final CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
		return answer(() -> tryRelease(key, owner));
	}

	private static <T> CompletionStage<T> answer(Supplier<T> request) {
		try {
			return CompletableFuture.completedFuture(request.get());
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

}
