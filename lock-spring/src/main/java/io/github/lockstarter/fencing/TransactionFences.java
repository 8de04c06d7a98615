// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

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
 * Adds a {@link TransactionFence} to each transaction manager of the application, and
 * puts a {@link FencedR2dbcTransactionManager} in the place of each reactive one.
 */
public final class TransactionFences implements BeanPostProcessor {

	private static final boolean JDBC_PRESENT = ClassUtils
		.isPresent("org.springframework.jdbc.datasource.DataSourceUtils", TransactionFences.class.getClassLoader());

	private static final boolean R2DBC_PRESENT = ClassUtils.isPresent(
			"org.springframework.r2dbc.connection.R2dbcTransactionManager", TransactionFences.class.getClassLoader());

	private final BeanFactory beanFactory;

	/** The names of all managers that were looked at. */
	private final Set<String> known = ConcurrentHashMap.newKeySet();

	/** By the names of their managers. */
	private final Map<String, FencingNotPossibleException> obstacles = new ConcurrentHashMap<>();

	/** By the names of their managers. */
	private final Map<String, FencingNotPossibleException> reactiveObstacles = new ConcurrentHashMap<>();

	/** Guarded by itself. */
	private final Map<DataSource, FenceTable> tables = new IdentityHashMap<>();

	/** The tables of JTA, whose transactions no store can see. */
	private final Set<FenceTable> jtaTables = ConcurrentHashMap.newKeySet();

	private final Set<R2dbcFenceTable> reactiveTables = ConcurrentHashMap.newKeySet();

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
		return this.obstacles.values();
	}

	/**
	 * Return the obstacles of reactive managers. Their transactions cannot be refused
	 * when they begin, because a listener does not know the locks of the chain.
	 */
	Collection<FencingNotPossibleException> reactiveObstacles() {
		return this.reactiveObstacles.values();
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
	 * Return whether a table is needed even if its database keeps the locks.
	 */
	boolean isOfJta(FenceTable table) {
		return this.jtaTables.contains(table);
	}

	/**
	 * Return the tables of all databases with reactive transactions.
	 */
	Collection<R2dbcFenceTable> reactiveTables() {
		return this.reactiveTables;
	}

	/**
	 * Fence the managers that were created before this post-processor, because another
	 * one needs them. It is too late to put another bean in the place of a reactive one.
	 */
	void fenceEarlyManagers() {
		if (this.beanFactory instanceof ConfigurableListableBeanFactory beans) {
			for (String name : beans.getBeanNamesForType(TransactionManager.class, true, false)) {
				if (!this.known.contains(name) && beans.containsSingleton(name)) {
					Object bean = beans.getBean(name);
					if (postProcessAfterInitialization(bean, name) != bean) {
						this.reactiveObstacles.put(name,
								obstacle((TransactionManager) bean, name,
										"another BeanPostProcessor has created it" + " too early",
										"Let that post-processor look it up when it is used"));
					}
				}
			}
		}
	}

	/**
	 * Add a fence, once the manager knows its connections.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!(bean instanceof TransactionManager manager)) {
			return bean;
		}
		this.known.add(beanName);
		if (settings().exclude().contains(beanName)) {
			return bean;
		}
		return (manager instanceof ReactiveTransactionManager) ? fenceReactive(manager, beanName)
				: fence(manager, beanName);
	}

	private TransactionManager fence(TransactionManager manager, String name) {
		FenceTable table = table(manager);
		if (table != null) {
			AbstractPlatformTransactionManager fenced = (AbstractPlatformTransactionManager) manager;
			addFirst(new TransactionFence(fenced, table, settings().transactions()), fenced);
		}
		else {
			FencingNotPossibleException obstacle = hidesConnections(manager)
					? obstacle(manager, name, "its JpaDialect does not reveal the connection of a transaction",
							"Set the JpaDialect of your vendor on it, as a LocalContainerEntityManagerFactoryBean with"
									+ " the JpaVendorAdapter of your vendor does")
					: obstacle(manager, name, "there is no single DataSource behind it",
							"Let a JdbcTransactionManager or a JpaTransactionManager with a DataSource run them");
			this.obstacles.put(name, obstacle);
			if (manager instanceof ConfigurableTransactionManager configurable) {
				configurable.addListener(new UnfencedTransactions(obstacle, settings().transactions()));
			}
		}
		return manager;
	}

	private static boolean hidesConnections(TransactionManager manager) {
		return JDBC_PRESENT && manager instanceof AbstractPlatformTransactionManager platform
				&& TransactionDataSource.isHidden(platform);
	}

	/** What another listener reads at the beginning would fix the snapshot. */
	private static void addFirst(TransactionFence fence, AbstractPlatformTransactionManager manager) {
		List<TransactionExecutionListener> listeners = new ArrayList<>(List.of(fence));
		listeners.addAll(manager.getTransactionExecutionListeners());
		manager.setTransactionExecutionListeners(listeners);
	}

	private TransactionManager fenceReactive(TransactionManager manager, String name) {
		FencedR2dbcTransactionManager fenced = R2DBC_PRESENT ? R2dbcFences.fenced(manager, settings()) : null;
		if (fenced == null) {
			this.reactiveObstacles.put(name, obstacle(manager, name, "it is not an R2dbcTransactionManager itself",
					"Let an R2dbcTransactionManager run them, or a subclass of FencedR2dbcTransactionManager"));
			return manager;
		}
		this.reactiveTables.add(fenced.table());
		return fenced;
	}

	private @Nullable FenceTable table(TransactionManager manager) {
		if (!JDBC_PRESENT || !(manager instanceof AbstractPlatformTransactionManager platform)) {
			return null;
		}
		DataSource dataSource = TransactionDataSource.of(platform, this.beanFactory.getBeanProvider(DataSource.class));
		if (dataSource == null) {
			return null;
		}
		FencingSettings settings = settings();
		FenceTable table;
		synchronized (this.tables) {
			table = this.tables.computeIfAbsent(dataSource,
					(each) -> new FenceTable(each, settings.table(), settings.retention()));
		}
		if (TransactionDataSource.isJta(platform)) {
			this.jtaTables.add(table);
		}
		return table;
	}

	private static FencingNotPossibleException obstacle(TransactionManager manager, String name, String reason,
			String remedy) {
		return new FencingNotPossibleException(
				"Transactions of '" + name + "' (" + ClassUtils.getShortName(manager.getClass())
						+ ") cannot be fenced, because " + reason,
				remedy + ", name '" + name
						+ "' in distributed-lock.fencing.exclude (the field 'exclude' of FencingSettings), or do not"
						+ " fence transactions.");
	}

}
