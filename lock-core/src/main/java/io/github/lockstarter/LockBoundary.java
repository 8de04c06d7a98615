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
 * The module {@code lock-spring} contributes the transactions of Spring. Implement it for
 * transactions of another kind, and name the class in
 * {@code META-INF/services/io.github.lockstarter.LockBoundary}. The first one that
 * {@link java.util.ServiceLoader} finds with the class loader of this interface applies
 * to all locks of the JVM.
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
	 * Do something when the current transaction is completed; called inside a transaction
	 * only.
	 * @param action takes the outcome of the transaction
	 */
	void whenCompleted(Consumer<Outcome> action);

	/**
	 * How a transaction was completed.
	 */
	enum Outcome {

		/** What was written is visible to others. */
		COMMITTED,

		/** Nothing was written. */
		ROLLED_BACK,

		/** Either may be true. */
		UNKNOWN

	}

}
