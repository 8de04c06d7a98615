// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.orm.jpa.DefaultJpaDialect;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The connections of a manager's transactions.
 */
final class TransactionDataSource {

	private static final boolean JPA_PRESENT = ClassUtils.isPresent("org.springframework.orm.jpa.JpaTransactionManager",
			TransactionDataSource.class.getClassLoader());

	private TransactionDataSource() {
	}

	/**
	 * Return the connections, or {@code null} if the manager does not reveal them.
	 */
	static @Nullable DataSource of(AbstractPlatformTransactionManager manager) {
		if (manager instanceof ResourceTransactionManager resources
				&& resources.getResourceFactory() instanceof DataSource dataSource) {
			return dataSource;
		}
		return (JPA_PRESENT && Jpa.isManager(manager)) ? Jpa.dataSource(manager) : null;
	}

	/**
	 * Check that the connection of a transaction is known. Any other one would commit a
	 * claim at once.
	 * @throws FencingNotPossibleException if it is not
	 */
	static void requireConnection(DataSource dataSource) {
		if (!TransactionSynchronizationManager.hasResource(dataSource)) {
			throw new FencingNotPossibleException(
					"The transaction cannot be fenced, because its manager does not reveal its connection",
					"Set the JpaDialect of your vendor on the transaction manager, or do not fence transactions");
		}
	}

	/**
	 * Uses classes that may be absent.
	 */
	private static final class Jpa {

		static boolean isManager(Object manager) {
			return manager instanceof JpaTransactionManager;
		}

		static @Nullable DataSource dataSource(Object manager) {
			// The dialect of no vendor does not tell which connection a transaction has
			return (((JpaTransactionManager) manager).getJpaDialect().getClass() != DefaultJpaDialect.class)
					? ((JpaTransactionManager) manager).getDataSource() : null;
		}

	}

}
