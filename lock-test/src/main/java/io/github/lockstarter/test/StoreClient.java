// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * Asks a store and waits for its answers.
 *
 * @param store the store
 */
public record StoreClient(LockStore store) {

	/**
	 * Ask for a lock.
	 * @param queue whether a refused JVM or owner is put into the line
	 */
	public AcquireResult acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue) {
		return answer(this.store.acquire(new LeaseRequest(key, owner, leaseTime), queue));
	}

	/**
	 * Extend a lease. With a lease time of zero, only check whether the owner holds the
	 * lock.
	 */
	public boolean renew(LockKey key, OwnerToken owner, Duration leaseTime) {
		return answer(this.store.renew(List.of(new LeaseRequest(key, owner, leaseTime))).get(0));
	}

	/**
	 * Keep a lock instead of releasing it.
	 */
	public boolean keep(LockKey key, OwnerToken owner, Duration time) {
		return answer(this.store.keeping().orElseThrow().keep(key, owner, time));
	}

	/**
	 * Release a lock.
	 * @return whether the owner held it
	 */
	public boolean release(LockKey key, OwnerToken owner) {
		return answer(this.store.release(key, owner));
	}

	/**
	 * Return the names of those that stand in the line of a lock.
	 */
	public List<String> waiters(LockKey key) {
		return answer(this.store.inspection().orElseThrow().inspect(key)).waiters();
	}

	/**
	 * Put an owner into the line of a lock.
	 */
	public void arrive(LockKey key, OwnerToken owner) {
		answer(this.store.waitingLine().enter(key, owner));
	}

	/**
	 * Take this JVM out of the line of a lock.
	 */
	public void withdraw(LockKey key) {
		answer(this.store.waitingLine().withdraw(key));
	}

	/**
	 * Take an owner out of the line of a lock.
	 */
	public void withdraw(LockKey key, OwnerToken owner) {
		answer(this.store.waitingLine().withdraw(key, owner));
	}

	/**
	 * Return whether messages reach the listener.
	 */
	public boolean listen(WaitingLine.Listener listener) {
		return this.store.waitingLine().listen(listener);
	}

	private static <T> T answer(CompletionStage<T> stage) {
		try {
			return stage.toCompletableFuture().join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
		}
	}

}
