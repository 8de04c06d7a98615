// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.autoconfigure.DistributedLockProperties.Store;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.transaction.FencingNotPossibleException;

/**
 * Logs the default store once it has been created successfully, and under which locks
 * transactions are fenced. Logs as well that Spring Boot keeps caches in Redis if no
 * property has asked for it, because the starter of the locks may be the reason.
 */
final class LockStoreNotice implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(LockStoreNotice.class);

	/** The configuration by which Spring Boot chooses Redis for caches. */
	private static final String REDIS_CACHES = "org.springframework.boot.cache.autoconfigure.RedisCacheConfiguration";

	/** Registries that are created when they are used, for stores of their own. */
	private static final Set<String> KINDS = Set.of(RedisLockConfiguration.REGISTRY, JdbcLockConfiguration.REGISTRY,
			ZooKeeperLockConfiguration.REGISTRY, RedlockConfiguration.REGISTRY);

	private final ConfigurableListableBeanFactory beanFactory;

	private final Environment environment;

	private final LockRegistry registry;

	private final DistributedLockProperties properties;

	LockStoreNotice(ConfigurableListableBeanFactory beanFactory, Environment environment, LockRegistry registry,
			DistributedLockProperties properties) {
		this.beanFactory = beanFactory;
		this.environment = environment;
		this.registry = innermost(registry);
		this.properties = properties;
	}

	private static LockRegistry innermost(LockRegistry registry) {
		// A mock has none
		return Objects.requireNonNullElse(registry.delegate(), registry);
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (Boolean.TRUE.equals(this.properties.fencing().transactions())
				&& !ClassUtils.isPresent("org.springframework.transaction.ConfigurableTransactionManager",
						this.beanFactory.getBeanClassLoader())) {
			throw new FencingNotPossibleException(
					"distributed-lock.fencing.transactions is true, but Spring transactions are not on the class path",
					"add the dependency spring-boot-starter-jdbc, or another one with a transaction manager, or remove the"
							+ " property");
		}
		if (this.registry instanceof DefaultLockRegistry registry) {
			String store = registry.name();
			String address = registry.store().address();
			logger.info("Locks are kept in the store '" + store + "'" + (address.isEmpty() ? "" : " at " + address)
					+ (this.beanFactory.containsBean(store) ? "" : place(store)) + furtherRegistries() + "; "
					+ fenced(store));
		}
		if (this.properties.store() != Store.AUTO) {
			warnOfUnusedStores();
		}
		if (this.beanFactory.containsBean(REDIS_CACHES) && !this.environment.containsProperty("spring.cache.type")) {
			logger.info("Caches are kept in Redis, because spring.cache.type is not set and"
					+ " spring-boot-starter-data-redis, which lock-starter brings, is on the class path. To keep them"
					+ " elsewhere, set spring.cache.type, for example to caffeine or simple");
		}
	}

	/** A store that the application has wrapped would be left out in silence. */
	private void warnOfUnusedStores() {
		Set<LockStore> used = Collections.newSetFromMap(new IdentityHashMap<>());
		for (String name : registries()) {
			Object bean = this.beanFactory.getSingleton(name);
			if (bean instanceof LockRegistry registry && innermost(registry) instanceof DefaultLockRegistry known) {
				used.add(known.store());
			}
			else if (bean != null || !KINDS.contains(name)) {
				// It may use any store, or will when it is created
				return;
			}
		}
		String unused = DefaultRegistry.own(this.beanFactory)
			.stream()
			.filter((name) -> !(this.beanFactory.getSingleton(name) instanceof LockStore store && used.contains(store)))
			.sorted()
			.collect(Collectors.joining("', '"));
		if (!unused.isEmpty()) {
			logger.warn("No lock is kept in the LockStore bean '" + unused + "', because distributed-lock.store is '"
					+ this.properties.store().name().toLowerCase(Locale.ROOT)
					+ "': to use it, remove the property; otherwise remove the bean, or declare it as"
					+ " @Bean(defaultCandidate = false)");
		}
	}

	private String[] registries() {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, LockRegistry.class, true, false);
	}

	private String furtherRegistries() {
		Object used = this.beanFactory.getSingleton(LockRegistriesConfiguration.DEFAULT);
		String further = Arrays.stream(registries())
			.filter((name) -> this.beanFactory.getSingleton(name) != used)
			.sorted()
			.collect(Collectors.joining("', '"));
		return further.isEmpty() ? "" : "; further registries are '" + further + "'";
	}

	/** A fence is one of the locks of a registry, not of a database alone. */
	private String fenced(String store) {
		Boolean transactions = this.properties.fencing().transactions();
		if (transactions == null && this.beanFactory.containsBean(JdbcLockConfiguration.REGISTRY)) {
			return store.equals("jdbc") ? "transactions under locks of the store 'jdbc' are fenced in its database"
					: "transactions are fenced only under locks of '" + JdbcLockConfiguration.REGISTRY
							+ "', in its database";
		}
		return Boolean.TRUE.equals(transactions) ? "transactions under all locks are fenced"
				: "transactions are not fenced";
	}

	/**
	 * Return where a kind of store keeps locks, as the end of a sentence.
	 */
	private String place(String kind) {
		return switch (kind) {
			case "redis" -> ", in keys that begin with '" + this.properties.keyPrefix() + "'";
			case "jdbc" -> ", in the table '" + this.properties.jdbc().table() + "'" + dataSource();
			case "zookeeper" -> ", below the node '" + this.properties.zookeeper().root() + "'";
			case "redlock" -> ", on " + this.properties.redlock().nodes().size() + " Redis servers";
			case "memory" -> ", which other instances do not see";
			default -> "";
		};
	}

	private String dataSource() {
		if (!this.beanFactory.containsSingleton(JdbcLockConfiguration.POOLS)) {
			return "";
		}
		DataSource used = this.beanFactory.getBean(JdbcLockConfiguration.POOLS, LockPools.class).application();
		return Arrays.stream(this.beanFactory.getBeanNamesForType(DataSource.class, true, false))
			.filter((name) -> this.beanFactory.getSingleton(name) == used)
			.findFirst()
			.map((name) -> " of the DataSource '" + name + "'")
			.orElse("");
	}

}
