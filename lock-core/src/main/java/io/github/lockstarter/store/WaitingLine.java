// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;

/**
 * The line in which a {@link LockStore} keeps the JVMs that wait for a lock, and by which
 * it tells them that the lock may be free. A JVM comes into the line by a refused
 * {@linkplain LockStore#acquire request} with a {@link Place}, and leaves it by a grant
 * or a withdrawal. Messages may be lost or come too often: waiters also ask now and then.
 *
 * <p>
 * As with the store itself, a stage that fails means that the outcome is not known, and
 * repeating a request does no harm.
 */
public interface WaitingLine {

	/**
	 * No line: waiters ask again and again.
	 */
	WaitingLine NONE = new WaitingLine() {

		@Override
		public boolean listen(ReleaseListener listener) {
			return false;
		}

		@Override
		public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
			return CompletableFuture.completedFuture(null);
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key) {
			return CompletableFuture.completedFuture(null);
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
			return CompletableFuture.completedFuture(null);
		}

		@Override
		public CompletionStage<Boolean> isAwaited(LockKey key) {
			return CompletableFuture.completedFuture(true);
		}

	};

	/**
	 * Return whether messages reach the listener, and if not, see to it that they will,
	 * without making the caller wait for that. When they begin to arrive, the listener is
	 * told of a doubt, so that waiters ask again and join the line. Called before each
	 * request that may wait, always with the same listener, so it must be cheap.
	 * @param listener what to call
	 * @return whether messages arrive; while they do not, waiters have to poll
	 */
	boolean listen(ReleaseListener listener);

	/**
	 * Put an owner into the line under its own name, before it asks for the lock. A grant
	 * or {@link #withdraw(LockKey, OwnerToken)} takes it out.
	 * @param key the lock
	 * @param owner the owner that waits, in mode
	 * {@link io.github.lockstarter.LockMode#FAIR}
	 * @return done when the owner stands in the line
	 */
	CompletionStage<Void> enter(LockKey key, OwnerToken owner);

	/**
	 * Take this JVM out of the line. Of its owners with a place of their own, only the
	 * one whose turn it is leaves as well. If it was the turn of this JVM, the next one
	 * is told; if the JVM was in the way of others that share the lock, these are told.
	 * @param key the lock
	 * @return done when this JVM is out of the line
	 */
	CompletionStage<Void> withdraw(LockKey key);

	/**
	 * Take an owner with a place of its own out of the line; if it was its turn, the next
	 * one is told.
	 * @param key the lock
	 * @param owner the owner that has waited
	 * @return done when the owner is out of the line
	 */
	CompletionStage<Void> withdraw(LockKey key, OwnerToken owner);

	/**
	 * Ask whether another JVM, or an owner with a place of its own, stands in the line.
	 * @param key the lock
	 * @return the answer; {@code true} if the store does not know
	 */
	CompletionStage<Boolean> isAwaited(LockKey key);

}
