// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;

/**
 * One of the independent servers that vote on the owner of a lock, as seen by a candidate
 * for the lock. No request blocks. Requests for one lock take effect in the order of the
 * calls.
 */
public interface Voter {

	/**
	 * Return the run of the server when it last voted, or {@code null} if it never has.
	 */
	RedisVote.@Nullable Run lastRun();

	/**
	 * Return whether nobody should wait for the server if the others can decide.
	 * Otherwise instances that share the votes of the other servers would keep these for
	 * as long as they wait.
	 */
	boolean isSilent();

	/**
	 * Ask for a lock.
	 * @param attempt number of the attempt, and the least fencing base that is wanted
	 */
	CompletableFuture<RedisVote> acquire(LeaseRequest request, long attempt);

	/**
	 * Raise the last fencing base of a lock.
	 * @return whether the owner holds the lock on this server, and the base is reached
	 */
	CompletableFuture<Boolean> raise(LockKey key, OwnerToken owner, long base);

	/**
	 * Release what one attempt has acquired, and nothing that a later one acquires. If
	 * that fails, it is repeated for some minutes, unless nothing of the attempt can have
	 * arrived.
	 * @return whether the owner held the lock on this server
	 */
	CompletableFuture<Boolean> release(LockKey key, OwnerToken owner, long attempt);

}
