// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.orm.jpa.DefaultJpaDialect;
import org.springframework.orm.jpa.JpaDialect;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The connections of a manager's transactions.
 */
final class TransactionDataSource {

	private static final boolean JPA_PRESENT = isPresent("org.springframework.orm.jpa.JpaTransactionManager");

	private static final boolean JTA_PRESENT = isPresent("org.springframework.transaction.jta.JtaTransactionManager")
			&& isPresent("jakarta.transaction.UserTransaction");

	private TransactionDataSource() {
	}

	private static boolean isPresent(String name) {
		return ClassUtils.isPresent(name, TransactionDataSource.class.getClassLoader());
	}

	/**
	 * Return the connections, or {@code null} if the manager does not reveal them.
	 * @param manager the manager
	 * @param only the only {@link DataSource} of the application, if there is one
	 */
	static @Nullable DataSource of(AbstractPlatformTransactionManager manager, ObjectProvider<DataSource> only) {
		if (manager instanceof ResourceTransactionManager resources
				&& resources.getResourceFactory() instanceof DataSource dataSource) {
			return dataSource;
		}
		if (JPA_PRESENT && Jpa.isManager(manager)) {
			return Jpa.dataSource(manager);
		}
		return isJta(manager) ? only.getIfUnique() : null;
	}

	/**
	 * Return whether a manager does not tell which connection a transaction has.
	 */
	static boolean isJta(AbstractPlatformTransactionManager manager) {
		return JTA_PRESENT && Jta.isManager(manager);
	}

	/**
	 * Return whether a manager knows its connections, but does not reveal that of a
	 * transaction.
	 */
	static boolean isHidden(AbstractPlatformTransactionManager manager) {
		return JPA_PRESENT && Jpa.isManager(manager) && Jpa.isHidden(manager);
	}

	/**
	 * Return whether a manager begins transactions with code of Spring alone. Other code
	 * may set something for one transaction, such as a tenant.
	 */
	static boolean beginsAsUsual(AbstractPlatformTransactionManager manager) {
		return isOfSpring(manager) && (!JPA_PRESENT || !Jpa.isManager(manager) || isOfSpring(Jpa.dialect(manager)));
	}

	private static boolean isOfSpring(Object object) {
		return object.getClass().getPackageName().startsWith("org.springframework.");
	}

	/**
	 * Check that the connection of a transaction is known. Any other one would commit a
	 * claim at once.
	 * @throws FencingNotPossibleException if it is not
	 */
	static void requireConnection(DefaultTransactionStatus transaction, DataSource dataSource) {
		if (transaction.getTransaction() instanceof JdbcTransactionObjectSupport
				&& !TransactionSynchronizationManager.hasResource(dataSource)) {
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

		static JpaDialect dialect(Object manager) {
			return ((JpaTransactionManager) manager).getJpaDialect();
		}

		static @Nullable DataSource dataSource(Object manager) {
			return revealsConnections(manager) ? ((JpaTransactionManager) manager).getDataSource() : null;
		}

		static boolean isHidden(Object manager) {
			return !revealsConnections(manager) && ((JpaTransactionManager) manager).getDataSource() != null;
		}

		private static boolean revealsConnections(Object manager) {
			return dialect(manager).getClass() != DefaultJpaDialect.class;
		}

	}

	/**
	 * Uses classes that may be absent.
	 */
	private static final class Jta {

		static boolean isManager(Object manager) {
			return manager instanceof JtaTransactionManager;
		}

	}

}
