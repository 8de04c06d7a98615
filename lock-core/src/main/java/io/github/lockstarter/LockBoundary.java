// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * The transactions of the current thread, as locks see them: a lock that is acquired
 * inside a transaction is released when the transaction is completed. Without a boundary
 * there are no transactions, and a lock is released when its body returns.
 *
 * <p>
 * The module {@code lock-spring} contributes the transactions of Spring. Implement this
 * interface for transactions of another kind, and name the class in
 * {@code META-INF/services/io.github.lockstarter.LockBoundary}. The first one that
 * {@link java.util.ServiceLoader} finds with the class loader of this interface applies
 * to all locks in the JVM.
 */
public interface LockBoundary {

	/**
	 * Return whether the current thread is inside a transaction.
	 */
	boolean isActive();

	/**
	 * Return whether the current thread is inside the scope of a transaction, even if the
	 * transaction is suspended.
	 */
	boolean isAround();

	/**
	 * Return the name of the current transaction, for messages.
	 */
	@Nullable String name();

	/**
	 * Note that the current thread has acquired locks inside a transaction. Called before
	 * their body begins.
	 * @throws RuntimeException if the body must not begin
	 */
	default void acquired() {
	}

	/**
	 * Run an action when the current transaction is completed. Called inside a
	 * transaction only.
	 * @param action takes the outcome of the transaction
	 */
	void whenCompleted(Consumer<Outcome> action);

	/**
	 * Return whether the current transaction holds a connection of a pool, for messages.
	 */
	default boolean holdsConnection() {
		return false;
	}

	/**
	 * Return whether a persistence context is open on the current thread, which returns
	 * what it has read before without asking the database again.
	 */
	default boolean isPersistenceContextOpen() {
		return false;
	}

	/**
	 * Let the open persistence contexts give their database connections back to the pool,
	 * before the current thread waits for a lock: the holder of the lock may need one.
	 * They stay open, and acquire a connection again when they need one. One that cannot
	 * do so keeps its connection. Called outside of transactions only.
	 */
	default void disconnectPersistenceContexts() {
	}

	/**
	 * Take the open persistence contexts from the current thread, so that it opens new
	 * ones. Called outside of transactions only.
	 * @return gives them back to the thread, whatever it has done in between
	 */
	default Runnable suspendPersistenceContexts() {
		return () -> {
		};
	}

	/**
	 * How a transaction was completed.
	 */
	enum Outcome {

		/** The writes of the transaction are visible to others. */
		COMMITTED,

		/** The transaction has written nothing. */
		ROLLED_BACK,

		/** The transaction may have been committed or rolled back. */
		UNKNOWN

	}

}
