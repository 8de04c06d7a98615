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
	 * Run an action when the current transaction is completed. Called inside a
	 * transaction only.
	 * @param action takes the outcome of the transaction
	 */
	void whenCompleted(Consumer<Outcome> action);

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
