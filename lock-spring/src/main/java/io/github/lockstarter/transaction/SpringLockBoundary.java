// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.LockBoundary;

/**
 * The Spring transaction of the current thread. {@link java.util.ServiceLoader} creates
 * it; there is nothing to configure.
 */
public final class SpringLockBoundary implements LockBoundary {

	/** Whether Spring transactions are on the class path. */
	private static final boolean PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			SpringLockBoundary.class.getClassLoader());

	@Override
	public boolean isActive() {
		return PRESENT && Transactions.areActive();
	}

	@Override
	public boolean isAround() {
		return PRESENT && Transactions.areAround();
	}

	@Override
	public @Nullable String name() {
		return Transactions.name();
	}

	@Override
	public void whenCompleted(Consumer<Outcome> action) {
		Transactions.whenCompleted(action);
	}

	/**
	 * Uses the classes for transactions. It is a class of its own, because even the
	 * verification of its methods needs them.
	 */
	private static final class Transactions {

		static boolean areActive() {
			return areAround() && TransactionSynchronizationManager.isActualTransactionActive();
		}

		static boolean areAround() {
			return TransactionSynchronizationManager.isSynchronizationActive();
		}

		static @Nullable String name() {
			return TransactionSynchronizationManager.getCurrentTransactionName();
		}

		static void whenCompleted(Consumer<Outcome> action) {
			TransactionSynchronizationManager.registerSynchronization(new Completion(action));
		}

	}

	private record Completion(Consumer<Outcome> action) implements TransactionSynchronization {

		@Override
		public void afterCompletion(int status) {
			this.action.accept(switch (status) {
				case STATUS_COMMITTED -> Outcome.COMMITTED;
				case STATUS_ROLLED_BACK -> Outcome.ROLLED_BACK;
				default -> Outcome.UNKNOWN;
			});
		}

	}

}
