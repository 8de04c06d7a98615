// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.util.ClassUtils;

/**
 * Adds a {@link TransactionFence} to each transaction manager of the application.
 */
public final class TransactionFences implements BeanPostProcessor {

	private static final boolean JDBC_PRESENT = ClassUtils
		.isPresent("org.springframework.jdbc.datasource.DataSourceUtils", TransactionFences.class.getClassLoader());

	private final BeanFactory beanFactory;

	/** The names of all managers that were looked at. */
	private final Set<String> known = ConcurrentHashMap.newKeySet();

	private final Queue<FencingNotPossibleException> obstacles = new ConcurrentLinkedQueue<>();

	/** Guarded by itself. */
	private final Map<DataSource, FenceTable> tables = new IdentityHashMap<>();

	/**
	 * Create a post-processor.
	 * @param beanFactory has the {@link FencingSettings}, or none for the defaults
	 */
	public TransactionFences(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	FencingSettings settings() {
		return this.beanFactory.getBeanProvider(FencingSettings.class).getIfAvailable(() -> FencingSettings.DEFAULTS);
	}

	/**
	 * Return why transactions cannot be fenced, for each manager of which that is true.
	 */
	Collection<FencingNotPossibleException> obstacles() {
		return this.obstacles;
	}

	/**
	 * Return the tables of all databases.
	 */
	Collection<FenceTable> tables() {
		synchronized (this.tables) {
			return List.copyOf(this.tables.values());
		}
	}

	/**
	 * Fence the managers that were created before this post-processor, because another
	 * one needs them.
	 */
	void fenceEarlyManagers() {
		if (this.beanFactory instanceof ConfigurableListableBeanFactory beans) {
			for (String name : beans.getBeanNamesForType(TransactionManager.class, true, false)) {
				if (!this.known.contains(name) && beans.containsSingleton(name)) {
					postProcessAfterInitialization(beans.getBean(name), name);
				}
			}
		}
	}

	/**
	 * Add a fence, once the manager knows its connections.
	 * @throws FencingNotPossibleException if the transactions of all locks are to be
	 * fenced, and those of this manager cannot be
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof TransactionManager manager) {
			this.known.add(beanName);
			if (!settings().exclude().contains(beanName)) {
				fence(manager, beanName);
			}
		}
		return bean;
	}

	private void fence(TransactionManager manager, String name) {
		FenceTable table = table(manager);
		if (table != null) {
			AbstractPlatformTransactionManager fenced = (AbstractPlatformTransactionManager) manager;
			addFirst(new TransactionFence(fenced, table, settings().transactions()), fenced);
			return;
		}
		FencingNotPossibleException obstacle = obstacle(manager, name);
		if (settings().transactions()) {
			throw obstacle;
		}
		this.obstacles.add(obstacle);
		if (manager instanceof ConfigurableTransactionManager configurable) {
			configurable.addListener(new UnfencedTransactions(obstacle));
		}
	}

	/** What another listener reads at the beginning would fix the snapshot. */
	private static void addFirst(TransactionFence fence, AbstractPlatformTransactionManager manager) {
		List<TransactionExecutionListener> listeners = new ArrayList<>(List.of(fence));
		listeners.addAll(manager.getTransactionExecutionListeners());
		manager.setTransactionExecutionListeners(listeners);
	}

	private @Nullable FenceTable table(TransactionManager manager) {
		if (!JDBC_PRESENT || !(manager instanceof AbstractPlatformTransactionManager platform)) {
			return null;
		}
		DataSource dataSource = TransactionDataSource.of(platform);
		if (dataSource == null) {
			return null;
		}
		FencingSettings settings = settings();
		synchronized (this.tables) {
			return this.tables.computeIfAbsent(dataSource,
					(each) -> new FenceTable(each, settings.table(), settings.retention()));
		}
	}

	private static FencingNotPossibleException obstacle(TransactionManager manager, String name) {
		boolean reactive = manager instanceof ReactiveTransactionManager;
		return new FencingNotPossibleException(
				"Transactions of '" + name + "' (" + ClassUtils.getShortName(manager.getClass())
						+ ") cannot be fenced, because "
						+ (reactive ? "they are reactive" : "it does not reveal their connections"),
				(reactive ? ""
						: "let a JdbcTransactionManager, or a JpaTransactionManager with a DataSource and the JpaDialect"
								+ " of its vendor, run them, or ")
						+ FencingNotPossibleException.BY_HAND + ", name '" + name
						+ "' in distributed-lock.fencing.exclude (the field 'exclude' of FencingSettings), or do not"
						+ " fence transactions.");
	}

}
