// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import javax.sql.DataSource;

import jakarta.persistence.EntityManagerFactory;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.orm.jpa.DefaultJpaDialect;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.TransactionFencing;

/**
 * Adds a {@link TransactionFence} to each transaction manager of the application.
 */
public final class TransactionFences implements BeanPostProcessor {

	private static final boolean JDBC_PRESENT = ClassUtils
		.isPresent("org.springframework.jdbc.datasource.DataSourceUtils", TransactionFences.class.getClassLoader());

	private static final boolean JPA_PRESENT = ClassUtils.isPresent("org.springframework.orm.jpa.JpaTransactionManager",
			TransactionFences.class.getClassLoader());

	private static final Log logger = LogFactory.getLog(TransactionFences.class);

	private final BeanFactory beanFactory;

	/** The names of all managers that were looked at. */
	private final Set<String> known = ConcurrentHashMap.newKeySet();

	private final Queue<Obstacle> obstacles = new ConcurrentLinkedQueue<>();

	/** Guarded by itself. */
	private final Map<DataSource, FenceTable> tables = new IdentityHashMap<>();

	/**
	 * Create a post-processor.
	 * @param beanFactory has the {@link FencingSettings}, or none for the defaults
	 */
	public TransactionFences(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Return whether there is a manager, even one that does not exist yet.
	 */
	boolean hasManagers() {
		return !this.known.isEmpty() || (this.beanFactory instanceof ListableBeanFactory beans && BeanFactoryUtils
			.beanNamesForTypeIncludingAncestors(beans, TransactionManager.class, true, false).length > 0);
	}

	/**
	 * Return whether each transaction under a lock claims its fencing token, whatever its
	 * manager. Until all managers exist, this is unknown.
	 * @param registry the registry of the lock
	 * @param fencing what the annotation of the lock says
	 */
	public boolean areAllFenced(LockRegistry registry, TransactionFencing fencing) {
		FencingSettings settings = settings();
		return registry instanceof TransactionAwareLockRegistry aware && fencing != TransactionFencing.OFF
				&& settings.exclude().isEmpty() && this.obstacles.isEmpty() && !tables().isEmpty()
				&& tables().stream()
					.allMatch((table) -> fencing == TransactionFencing.ON
							|| settings.isFenced(table.dataSource(), aware.name()));
	}

	FencingSettings settings() {
		return this.beanFactory.getBeanProvider(FencingSettings.class).getIfAvailable(() -> FencingSettings.DEFAULTS);
	}

	/**
	 * Return why transactions cannot be fenced, for each manager of which that is true.
	 */
	Collection<FencingNotPossibleException> obstacles() {
		return this.obstacles.stream().map(Obstacle::reason).toList();
	}

	/**
	 * Warn of each manager whose transactions would be fenced by default, because the
	 * locks are kept in their database, or may be, but cannot be.
	 */
	void warnOfObstacles() {
		for (Obstacle obstacle : this.obstacles) {
			if (isBesideLocks(obstacle.manager())) {
				logger.warn(obstacle.reason().getProblem()
						+ ". In the database that keeps the locks, they would be fenced by default: "
						+ obstacle.reason().getRemedy());
			}
		}
	}

	/**
	 * Warn of excluded managers that do not exist: those that were meant are fenced.
	 */
	void warnOfUnknownManagers() {
		Set<String> unknown = new TreeSet<>(settings().exclude());
		unknown.removeAll(this.known);
		if (!unknown.isEmpty() && this.beanFactory instanceof ListableBeanFactory beans) {
			Set<String> managers = new TreeSet<>(Arrays.asList(
					BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, TransactionManager.class, true, false)));
			unknown.removeAll(managers);
			if (!unknown.isEmpty()) {
				logger.warn("There is no transaction manager '" + String.join("', '", unknown)
						+ "', which distributed-lock.fencing.exclude (the field 'exclude' of FencingSettings) names: correct"
						+ " or remove it. Transaction managers: '" + String.join("', '", managers) + "'");
			}
		}
	}

	/** What a manager does not say may be so. */
	private boolean isBesideLocks(TransactionManager manager) {
		if (!JDBC_PRESENT) {
			return false;
		}
		Object resource = (manager instanceof ResourceTransactionManager resources) ? resources.getResourceFactory()
				: null;
		if (JPA_PRESENT) {
			resource = Jpa.resource(manager, resource);
		}
		if (resource == null || (resource instanceof DataSource routing && FenceTable.isRouting(routing))) {
			return dataSources().anyMatch(settings()::isFenced);
		}
		return resource instanceof DataSource dataSource && settings().isFenced(dataSource);
	}

	private Stream<DataSource> dataSources() {
		return (this.beanFactory instanceof ConfigurableListableBeanFactory beans)
				? Arrays.stream(beans.getBeanNamesForType(DataSource.class, true, false))
					.map(beans::getSingleton)
					.filter(DataSource.class::isInstance)
					.map(DataSource.class::cast)
					.filter((dataSource) -> !FenceTable.isRouting(dataSource))
				: Stream.empty();
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
	 * one needs them, or because they belong to a parent context without fences.
	 */
	void fenceEarlyManagers() {
		fenceManagers(this.beanFactory);
	}

	/**
	 * Fence the managers of a child context, which has other post-processors, unless it
	 * has fences of its own.
	 * @return whether there are some that were not known
	 */
	boolean fenceChild(BeanFactory context) {
		return context != this.beanFactory && context instanceof ConfigurableListableBeanFactory beans
				&& beans.getBeanNamesForType(TransactionFences.class, true, false).length == 0
				&& fenceManagers(context);
	}

	private boolean fenceManagers(BeanFactory first) {
		boolean found = false;
		BeanFactory next = first;
		while (next instanceof ConfigurableListableBeanFactory beans) {
			for (String name : beans.getBeanNamesForType(TransactionManager.class, true, false)) {
				if (beans.containsSingleton(name)
						&& !((beans == this.beanFactory) ? this.known.contains(name) : isFenced(beans.getBean(name)))) {
					postProcessAfterInitialization(beans.getBean(name), name);
					found = true;
				}
			}
			next = beans.getParentBeanFactory();
		}
		return found;
	}

	private static boolean isFenced(Object manager) {
		return manager instanceof ConfigurableTransactionManager configurable
				&& configurable.getTransactionExecutionListeners()
					.stream()
					.anyMatch((listener) -> listener instanceof TransactionFence || listener instanceof Refusal);
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
			FencingSettings settings = settings();
			addFirst(new TransactionFence(fenced, table, (registry) -> settings.isFenced(table.dataSource(), registry)),
					fenced);
			return;
		}
		FencingNotPossibleException obstacle = obstacle(manager, name);
		if (settings().transactions()) {
			throw obstacle;
		}
		this.obstacles.add(new Obstacle(manager, obstacle));
		if (manager instanceof ConfigurableTransactionManager configurable) {
			configurable.addListener(new Refusal(obstacle));
		}
	}

	/** What another listener reads at the beginning would fix the snapshot. */
	private static void addFirst(TransactionFence fence, AbstractPlatformTransactionManager manager) {
		List<TransactionExecutionListener> listeners = new ArrayList<>(List.of(fence));
		listeners.addAll(manager.getTransactionExecutionListeners());
		manager.setTransactionExecutionListeners(listeners);
	}

	private @Nullable FenceTable table(TransactionManager manager) {
		DataSource dataSource = dataSource(manager);
		if (dataSource == null || FenceTable.isRouting(dataSource)) {
			return null;
		}
		FencingSettings settings = settings();
		synchronized (this.tables) {
			return this.tables.computeIfAbsent(dataSource,
					(each) -> new FenceTable(each, settings.table(), settings.retention()));
		}
	}

	/**
	 * Return the connections of a manager's transactions, or {@code null} if the manager
	 * does not reveal them.
	 */
	private static @Nullable DataSource dataSource(TransactionManager manager) {
		if (!JDBC_PRESENT || !(manager instanceof AbstractPlatformTransactionManager)) {
			return null;
		}
		if (manager instanceof ResourceTransactionManager resources
				&& resources.getResourceFactory() instanceof DataSource dataSource) {
			return dataSource;
		}
		return JPA_PRESENT ? Jpa.dataSource(manager) : null;
	}

	private static FencingNotPossibleException obstacle(TransactionManager manager, String name) {
		String reason = "it does not reveal their connections";
		String remedy = "let a JdbcTransactionManager, or a JpaTransactionManager with a DataSource and the JpaDialect of"
				+ " its vendor, run them, or ";
		if (manager instanceof ReactiveTransactionManager) {
			reason = "they are reactive";
			remedy = "";
		}
		else if (dataSource(manager) != null) {
			reason = "its DataSource chooses between several databases";
			remedy = "";
		}
		return new FencingNotPossibleException(
				"Transactions of '" + name + "' (" + ClassUtils.getShortName(manager.getClass())
						+ ") cannot be fenced, because " + reason,
				remedy + FencingNotPossibleException.BY_HAND + ", name '" + name
						+ "' in distributed-lock.fencing.exclude (the field 'exclude' of FencingSettings), or do not"
						+ " fence transactions");
	}

	/**
	 * Uses classes that may be absent.
	 */
	private static final class Jpa {

		/** The dialect of no vendor does not tell which connection a transaction has. */
		static @Nullable DataSource dataSource(Object manager) {
			return (manager instanceof JpaTransactionManager jpa
					&& jpa.getJpaDialect().getClass() != DefaultJpaDialect.class) ? jpa.getDataSource() : null;
		}

		/**
		 * Return that of a manager, or {@code null} if it has an unknown one.
		 */
		static @Nullable Object resource(Object manager, @Nullable Object resource) {
			if (manager instanceof JpaTransactionManager jpa) {
				return jpa.getDataSource();
			}
			return (resource instanceof EntityManagerFactory) ? null : resource;
		}

	}

	/**
	 * A manager whose transactions cannot be fenced.
	 */
	private record Obstacle(TransactionManager manager, FencingNotPossibleException reason) {

	}

	/**
	 * Refuses transactions for which an annotation or a template asks for a fence, for a
	 * manager whose transactions cannot have one.
	 */
	private record Refusal(FencingNotPossibleException reason) implements TransactionExecutionListener {

		@Override
		public void beforeBegin(TransactionExecution transaction) {
			if (!transaction.isReadOnly()) {
				refuse();
			}
		}

		/**
		 * Refuse locks that are acquired inside the transaction as well.
		 */
		@Override
		public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
			if (beginFailure == null && !transaction.isReadOnly() && transaction.isNewTransaction()
					&& transaction instanceof TransactionStatus
					&& TransactionSynchronizationManager.isSynchronizationActive()) {
				TransactionSynchronizationManager.registerSynchronization((AcquisitionSynchronization) this::refuse);
			}
		}

		private void refuse() {
			if (!LeasesOfThread.fenced((registry) -> false).isEmpty()) {
				throw new FencingNotPossibleException(this.reason.getProblem(), this.reason.getRemedy());
			}
		}

	}

}
