// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.event;

import java.time.Duration;

import io.github.lockstarter.LockKey;

/**
 * Something that happened to a lock, as seen by this JVM. Reentrant acquisitions are no
 * events.
 */
public sealed interface LockEvent {

	/**
	 * Return which lock it happened to.
	 */
	LockKey key();

	/**
	 * The lock was granted.
	 *
	 * @param key which lock
	 * @param fencingToken the token of the lease
	 * @param waited how long it was waited for
	 */
	record Acquired(LockKey key, long fencingToken, Duration waited) implements LockEvent {
	}

	/**
	 * Somebody else held the lock for the whole wait time.
	 *
	 * @param key which lock
	 * @param waited how long it was waited for
	 */
	record Contended(LockKey key, Duration waited) implements LockEvent {
	}

	/**
	 * The store could not be asked for the lock.
	 *
	 * @param key which lock
	 * @param cause what the store answered
	 */
	record Unavailable(LockKey key, Throwable cause) implements LockEvent {
	}

	/**
	 * The wait for the lock ended by an interrupt, or was cancelled.
	 *
	 * @param key which lock
	 * @param waited how long it was waited for
	 */
	record Interrupted(LockKey key, Duration waited) implements LockEvent {
	}

	/**
	 * The lock was given back by its owner.
	 *
	 * @param key which lock
	 * @param fencingToken the token of the lease
	 * @param held how long it was held
	 */
	record Released(LockKey key, long fencingToken, Duration held) implements LockEvent {
	}

	/**
	 * The owner is done, and the lock stays taken for a while, as it wished.
	 *
	 * @param key which lock
	 * @param fencingToken the token of the lease
	 * @param held how long it was held
	 * @param rest how long it still stays taken
	 */
	record Kept(LockKey key, long fencingToken, Duration held, Duration rest) implements LockEvent {
	}

	/**
	 * Giving the lock back failed and is tried again in the background.
	 *
	 * @param key which lock
	 * @param fencingToken the token of the lease
	 * @param cause what the store answered
	 */
	record ReleaseFailed(LockKey key, long fencingToken, Throwable cause) implements LockEvent {
	}

	/**
	 * A renewal failed, or for a fixed lease time the question whether the lock is still
	 * held; it is tried again until the lease ends.
	 *
	 * @param key which lock
	 * @param fencingToken the token of the lease
	 * @param remaining how long the lease lasts without a renewal
	 * @param cause what the store answered
	 */
	record Suspect(LockKey key, long fencingToken, Duration remaining, Throwable cause) implements LockEvent {
	}

	/**
	 * A renewal or question succeeded after at least one that failed.
	 *
	 * @param key which lock
	 * @param fencingToken the token of the lease
	 */
	record Recovered(LockKey key, long fencingToken) implements LockEvent {
	}

	/**
	 * The lock was lost while its owner still held it. It comes after {@link Released} if
	 * the store told of the loss only when the lock was given back.
	 *
	 * @param key which lock
	 * @param fencingToken the token of the lease
	 * @param reason how it was lost
	 */
	record Lost(LockKey key, long fencingToken, String reason) implements LockEvent {
	}

}
