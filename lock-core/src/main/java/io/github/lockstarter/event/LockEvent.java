// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.event;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

/**
 * Something that happened to a lock, as seen by this JVM. Reentrant acquisitions publish
 * no events.
 */
public sealed interface LockEvent {

	/**
	 * Return the lock that this event is about.
	 */
	LockKey key();

	/**
	 * Return the mode in which it is acquired or held.
	 */
	LockMode mode();

	/**
	 * Return the name of the registry that acquires it.
	 */
	String registry();

	/**
	 * The lock was granted to a thread that may have read before what the lock guards: a
	 * transaction is active, or a persistence context is open and stays open. There is
	 * one event for each such grant, and none if a setting expects it.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param reason why it is late, for messages
	 * @param transaction the name of the active transaction, if there is one and it has a
	 * name
	 */
	record Late(LockKey key, LockMode mode, String registry, String reason,
			@Nullable String transaction) implements LockEvent {
	}

	/**
	 * The lock was granted.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param fencingToken the token of the lease
	 * @param waited how long the caller waited
	 */
	record Acquired(LockKey key, LockMode mode, String registry, long fencingToken,
			Duration waited) implements LockEvent {
	}

	/**
	 * Another owner held the lock for the whole wait time.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param waited how long the caller waited
	 * @param holder the instance that holds the lock, or {@code null} if it is not known
	 */
	record Contended(LockKey key, LockMode mode, String registry, Duration waited,
			@Nullable String holder) implements LockEvent {
	}

	/**
	 * The store could not be asked for the lock, or granted it too late.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param cause the failure of the store
	 */
	record Unavailable(LockKey key, LockMode mode, String registry, Throwable cause) implements LockEvent {
	}

	/**
	 * The wait for the lock was interrupted or cancelled.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param waited how long the caller waited
	 */
	record Interrupted(LockKey key, LockMode mode, String registry, Duration waited) implements LockEvent {
	}

	/**
	 * The lock was released by its owner.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param fencingToken the token of the lease
	 * @param held how long it was held
	 */
	record Released(LockKey key, LockMode mode, String registry, long fencingToken,
			Duration held) implements LockEvent {
	}

	/**
	 * The hold of the owner has ended, and the lock is kept for the rest of its
	 * {@code holdAtLeast} time.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param fencingToken the token of the lease
	 * @param held how long it was held
	 * @param rest how long the lock is still kept
	 */
	record Kept(LockKey key, LockMode mode, String registry, long fencingToken, Duration held,
			Duration rest) implements LockEvent {
	}

	/**
	 * The hold of the owner has ended, but the store could not be told. The release is
	 * tried again in the background until the lease expires. There is no {@link Released}
	 * for this lease, unless the failure became known only after it.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param fencingToken the token of the lease
	 * @param cause the failure of the store
	 */
	record ReleaseFailed(LockKey key, LockMode mode, String registry, long fencingToken,
			Throwable cause) implements LockEvent {
	}

	/**
	 * A renewal failed, or, for a fixed lease time, a check whether the lock is still
	 * held. It is tried again until the lease expires.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param fencingToken the token of the lease
	 * @param remaining how long the lease lasts without a renewal
	 * @param cause the failure of the store
	 */
	record Suspect(LockKey key, LockMode mode, String registry, long fencingToken, Duration remaining,
			Throwable cause) implements LockEvent {
	}

	/**
	 * A renewal or check succeeded after a failure.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param fencingToken the token of the lease
	 */
	record Recovered(LockKey key, LockMode mode, String registry, long fencingToken) implements LockEvent {
	}

	/**
	 * The lock was lost before its owner released it. This event comes after
	 * {@link Released} if the loss became known only at the release.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param fencingToken the token of the lease
	 * @param reason how it was lost
	 */
	record Lost(LockKey key, LockMode mode, String registry, long fencingToken, String reason) implements LockEvent {
	}

	/**
	 * The database has refused a fenced transaction before it read anything, because a
	 * later owner of the lock has claimed it. This event comes after its rollback. A
	 * fenced transaction that a listener begins then is refused as well.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param registry the name of its registry
	 * @param fencingToken the token of the late owner
	 */
	record TransactionRefused(LockKey key, LockMode mode, String registry, long fencingToken) implements LockEvent {
	}

}
