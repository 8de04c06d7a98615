// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;

/**
 * The line in which JVMs wait for a lock of a {@link LockStore}, and are notified that
 * the lock may be free. A JVM joins the line by a refused {@linkplain LockStore#acquire
 * request} that may wait, and leaves it by a grant or a withdrawal. Messages may be lost
 * or repeated, so waiters also ask now and then.
 *
 * <p>
 * As with the store itself, a failed stage means that the outcome is not known, and
 * repeating a request does no harm.
 */
public interface WaitingLine {

	/**
	 * No line: waiters poll.
	 */
	WaitingLine NONE = new WaitingLine() {

		@Override
		public boolean listen(Listener listener) {
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

	};

	/**
	 * Return whether messages reach the listener. If they do not, arrange that they will,
	 * without blocking the caller. When they begin to arrive, {@link Listener#onDoubt()}
	 * is called, so that waiters ask again and join the line. A line that begins to
	 * receive messages when this JVM joins it, and loses none by that, may return
	 * {@code true} before. This method is called before each request that may wait,
	 * always with the same listener, so it must be cheap.
	 * @param listener what to call
	 * @return whether messages arrive; while they do not, waiters have to poll
	 */
	boolean listen(Listener listener);

	/**
	 * Return whether messages reach the listener, for people and tools. Unlike
	 * {@link #listen}, this changes nothing.
	 * @return empty if it is not known, for example because nobody has waited yet
	 */
	default Optional<Boolean> isListening() {
		return Optional.empty();
	}

	/**
	 * Put an owner into the line under its own token, before it asks for the lock. One
	 * that already stands there keeps its place. A grant or
	 * {@link #withdraw(LockKey, OwnerToken)} takes it out.
	 * @param key the lock
	 * @param owner the owner that waits, in mode
	 * {@link io.github.lockstarter.LockMode#FAIR}
	 * @return done when the owner stands in the line
	 */
	CompletionStage<Void> enter(LockKey key, OwnerToken owner);

	/**
	 * Take this JVM out of the line. Owners with a place of their own keep it, except an
	 * owner whose turn it is. If this JVM had the turn, the next place is notified. If
	 * this JVM stood before others that can share the lock, these are notified.
	 * @param key the lock
	 * @return done when this JVM is out of the line
	 */
	CompletionStage<Void> withdraw(LockKey key);

	/**
	 * Take an owner with a place of its own out of the line. If the owner had the turn,
	 * the next place is notified.
	 * @param key the lock
	 * @param owner the owner that withdraws
	 * @return done when the owner is out of the line
	 */
	CompletionStage<Void> withdraw(LockKey key, OwnerToken owner);

	/**
	 * Callback for the messages of a line. It is called on a thread of the store's driver
	 * and must not block.
	 */
	interface Listener {

		/**
		 * A lock was released, and it is the turn of this JVM to ask for it.
		 * @param key which lock
		 */
		void onRelease(LockKey key);

		/**
		 * Messages may have been missed: every waiter should ask again.
		 */
		void onDoubt();

	}

}
