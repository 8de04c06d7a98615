// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
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

	private static final boolean JDBC_PRESENT = PRESENT && ClassUtils
		.isPresent("org.springframework.jdbc.datasource.ConnectionHolder", SpringLockBoundary.class.getClassLoader());

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
	public void acquired() {
		Transactions.acquired();
	}

	@Override
	public void whenCompleted(Consumer<Outcome> action) {
		Transactions.whenCompleted(action);
	}

	@Override
	public boolean holdsConnection() {
		return JDBC_PRESENT && Connections.areHeld();
	}

	@Override
	public boolean isPersistenceContextOpen() {
		return PRESENT && !Transactions.areEnding() && PersistenceContexts.areOpen();
	}

	@Override
	public void disconnectPersistenceContexts() {
		PersistenceContexts.disconnect();
	}

	@Override
	public Runnable suspendPersistenceContexts() {
		return PersistenceContexts.suspend()::resume;
	}

	/**
	 * Uses the classes for transactions. It is a class of its own, because even the
	 * verification of its methods needs them.
	 */
	private static final class Transactions {

		static boolean areActive() {
			return areAround() && TransactionSynchronizationManager.isActualTransactionActive();
		}

		/**
		 * Return whether a transaction is completed, but its resources are still bound,
		 * as for listeners after the commit. Without them another one could not suspend
		 * it.
		 */
		static boolean areEnding() {
			return !areAround() && TransactionSynchronizationManager.isActualTransactionActive();
		}

		static boolean areAround() {
			return TransactionSynchronizationManager.isSynchronizationActive();
		}

		static @Nullable String name() {
			return TransactionSynchronizationManager.getCurrentTransactionName();
		}

		static void acquired() {
			for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
				if (each instanceof AcquisitionSynchronization acquisitions) {
					acquisitions.locksAcquired();
				}
			}
		}

		static void whenCompleted(Consumer<Outcome> action) {
			TransactionSynchronizationManager.registerSynchronization(new Completion(action));
		}

	}

	/**
	 * Uses the classes for JDBC.
	 */
	private static final class Connections {

		static boolean areHeld() {
			return TransactionSynchronizationManager.getResourceMap()
				.entrySet()
				.stream()
				.anyMatch((resource) -> resource.getValue() instanceof ConnectionHolder holder
						&& holder.getConnectionHandle() != null && !isLazy(resource.getKey(), holder));
		}

		/**
		 * Only the text of a lazy connection says that it has not been fetched; other
		 * connections are not asked, because that may fetch them.
		 */
		private static boolean isLazy(Object dataSource, ConnectionHolder holder) {
			return dataSource instanceof LazyConnectionDataSourceProxy
					&& holder.getConnection().toString().startsWith("Lazy Connection proxy");
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
