// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.ServiceLoader;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Holds locks that are acquired inside a transaction until its end.
 */
final class TransactionBoundary {

	/**
	 * Found with the class loader of the library, because the class loader of a thread
	 * may know neither the library nor its contributors.
	 */
	private static final LockBoundary transactions = ServiceLoader
		.load(LockBoundary.class, TransactionBoundary.class.getClassLoader())
		.findFirst()
		.orElseGet(NoTransactions::new);

	private static final Log logger = LogFactory.getLog(TransactionBoundary.class);

	private TransactionBoundary() {
	}

	/**
	 * Return whether a lock that is about to be acquired must be held until the end of a
	 * transaction.
	 * @throws IllegalStateException if the lock must not be acquired
	 */
	static boolean defersRelease(AnyLockRequest<?> request, OnActiveTransaction policy) {
		if (!isActive()) {
			return false;
		}
		LockKey key = LockSetRequest.requestsOf(request).get(0).key();
		return switch (policy) {
			case DEFAULT, DEFER -> true;
			case FAIL -> throw new IllegalStateException("Lock '" + key + "' must not be acquired inside "
					+ description()
					+ ", which may have read before it has the lock; nothing was executed. Acquire the lock before the"
					+ " transaction begins, or choose OnActiveTransaction.DEFER and let the locked code begin a"
					+ " transaction of its own (Propagation.REQUIRES_NEW)");
			case RELEASE_ON_RETURN -> {
				logger.warn("Lock '" + key + "' is released before " + description()
						+ " commits: the next owner may not see what was written under the lock");
				yield false;
			}
		};
	}

	/**
	 * Return whether the current thread is inside the scope of a transaction, even if the
	 * transaction is suspended.
	 */
	static boolean isAround() {
		return transactions.isAround();
	}

	/**
	 * Return whether the current thread is inside a transaction.
	 */
	static boolean isActive() {
		return transactions.isActive();
	}

	/**
	 * Let the current transaction, if there is one, note that locks were acquired.
	 * @throws RuntimeException if their body must not begin
	 */
	static void acquired() {
		if (isActive()) {
			transactions.acquired();
		}
	}

	/**
	 * Return the name of the current transaction.
	 */
	static @Nullable String name() {
		return transactions.name();
	}

	/**
	 * Return how messages name the current transaction.
	 */
	static String description() {
		String name = transactions.name();
		return (name != null) ? "the transaction '" + name + "'" : "a transaction";
	}

	/**
	 * Return whether the current transaction holds a connection of a pool.
	 */
	static boolean holdsConnection() {
		return transactions.holdsConnection();
	}

	/**
	 * Return whether a persistence context is open on the current thread.
	 */
	static boolean isPersistenceContextOpen() {
		return transactions.isPersistenceContextOpen();
	}

	/**
	 * Let the open persistence contexts give their connections back to the pool.
	 */
	static void disconnectPersistenceContexts() {
		transactions.disconnectPersistenceContexts();
	}

	/**
	 * Take the open persistence contexts from the current thread.
	 * @return gives them back
	 */
	static Runnable suspendPersistenceContexts() {
		return transactions.suspendPersistenceContexts();
	}

	/**
	 * Release a lock when the current transaction is completed.
	 */
	static void endAfterCompletion(LeaseScope scope) {
		whenCompleted((outcome) -> end(scope, outcome));
	}

	/**
	 * Run an action when the current transaction is completed.
	 * @param action takes the outcome of the transaction
	 */
	static void whenCompleted(Consumer<LockBoundary.Outcome> action) {
		transactions.whenCompleted(action);
	}

	/**
	 * Release a lock after the completion of its transaction.
	 */
	static void end(LeaseScope scope, LockBoundary.Outcome outcome) {
		scope.close();
		try (LeaseSet lease = scope.lease()) {
			if (outcome != LockBoundary.Outcome.COMMITTED) {
				lease.holdAtLeast(Duration.ZERO);
			}
		}
		catch (LockLostException ex) {
			if (scope.lossMatters() && outcome != LockBoundary.Outcome.ROLLED_BACK) {
				logger.warn("The lock was lost while its transaction was completed", ex);
			}
		}
	}

	/**
	 * Without transactions a lock is released when its body returns.
	 */
	private static final class NoTransactions implements LockBoundary {

		@Override
		public boolean isActive() {
			return false;
		}

		@Override
		public boolean isAround() {
			return false;
		}

		@Override
		public @Nullable String name() {
			return null;
		}

		@Override
		public void whenCompleted(Consumer<Outcome> action) {
			throw new IllegalStateException("There are no transactions");
		}

	}

}
