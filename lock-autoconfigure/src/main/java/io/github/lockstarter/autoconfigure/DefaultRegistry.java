// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.autoconfigure.DistributedLockProperties.Store;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.LockRegistryFactory;
import io.github.lockstarter.store.LockStore;

/**
 * Chooses the registry that is injected by its type.
 *
 * @param beanFactory has the registries of all kinds of stores on the class path
 * @param registries creates that of another store
 * @param properties the store, and the addresses of servers
 */
record DefaultRegistry(ConfigurableListableBeanFactory beanFactory, LockRegistryFactory registries,
		DistributedLockProperties properties) {

	private static final Log logger = LogFactory.getLog(DefaultRegistry.class);

	/**
	 * Return how an application gets a registry that it has not, or {@code null} if it is
	 * of no kind of store.
	 * @param registry the name of the registry
	 */
	static @Nullable String remedy(String registry) {
		return Arrays.stream(Kind.values())
			.filter((kind) -> kind.registry.equals(registry))
			.map((kind) -> kind.remedy)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Return the registry of the store that the properties name. For {@code AUTO}, that
	 * is the only or primary {@link LockStore} bean of the application, or else the only
	 * kind of store on the class path.
	 * @throws LockStoreNotFoundException if there is none, or none can be preferred
	 */
	LockRegistry choose() {
		warnOfAddresses(Kind.ZOOKEEPER, "zookeeper.connect-string",
				this.properties.zookeeper().connectString() != null);
		warnOfAddresses(Kind.REDLOCK, "redlock.nodes", !this.properties.redlock().nodes().isEmpty());
		return of(this.properties.store());
	}

	/** Nobody may notice that a store is missing if the locks are kept in another one. */
	private void warnOfAddresses(Kind kind, String property, boolean present) {
		if (present && !kinds().contains(kind) && !this.properties.store().name().equals(kind.name())) {
			logger.warn("No lock is kept in the store '" + kind + "', because it is not on the class path, although"
					+ " distributed-lock." + property + " is set: to use it, " + kind.remedy
					+ "; otherwise remove the property");
		}
	}

	private LockRegistry of(Store store) {
		if (store == Store.MEMORY) {
			return this.registries.create("memory", new MemoryLockStore());
		}
		if (store == Store.AUTO) {
			List<String> own = own(this.beanFactory);
			return own.isEmpty() ? of(only(kinds())) : of(primary(own));
		}
		Kind kind = Kind.valueOf(store.name());
		if (!kinds().contains(kind)) {
			boolean withoutServers = kind == Kind.REDLOCK && this.properties.redlock().nodes().isEmpty();
			throw new LockStoreNotFoundException(
					"The property distributed-lock.store is '" + kind + "', but " + (withoutServers
							? "distributed-lock.redlock.nodes is not set" : "that store is not on the class path"),
					kind.remedy);
		}
		return of(kind);
	}

	private List<Kind> kinds() {
		return Arrays.stream(Kind.values()).filter((kind) -> this.beanFactory.containsBean(kind.store)).toList();
	}

	private LockRegistry of(Kind kind) {
		if (!this.beanFactory.isTypeMatch(kind.registry, LockRegistry.class)) {
			// The locks of another library have beans with such names
			return of(kind.toString(), kind.store);
		}
		this.beanFactory.registerDependentBean(kind.registry, LockRegistriesConfiguration.DEFAULT);
		return this.beanFactory.getBean(kind.registry, LockRegistry.class);
	}

	private LockRegistry of(String store) {
		return of(store, store);
	}

	private LockRegistry of(String name, String store) {
		// The registry is closed before its store
		this.beanFactory.registerDependentBean(store, LockRegistriesConfiguration.DEFAULT);
		return this.registries.create(name, this.beanFactory.getBean(store, LockStore.class));
	}

	/**
	 * Return the names of the {@link LockStore} beans of the application, without those
	 * that it keeps for registries of its own.
	 */
	static List<String> own(ConfigurableListableBeanFactory beanFactory) {
		return Arrays
			.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, LockStore.class, true, false))
			.filter((name) -> isDefaultCandidate(beanFactory, name))
			.toList();
	}

	private static boolean isDefaultCandidate(BeanFactory beanFactory, String name) {
		BeanFactory next = beanFactory;
		while (next instanceof ConfigurableListableBeanFactory beans) {
			if (beans.containsBeanDefinition(name)) {
				return !(beans.getBeanDefinition(name) instanceof AbstractBeanDefinition definition)
						|| definition.isDefaultCandidate();
			}
			next = beans.getParentBeanFactory();
		}
		return true;
	}

	private String primary(List<String> own) {
		if (own.size() == 1) {
			return own.get(0);
		}
		try {
			return this.beanFactory.resolveNamedBean(LockStore.class).getBeanName();
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new LockStoreNotFoundException(
					"Distributed locks need one default store, but there are several LockStore beans: " + quoted(own),
					"mark one of these beans as @Primary, or the others as @Bean(defaultCandidate = false)");
		}
	}

	private static Kind only(List<Kind> kinds) {
		if (kinds.isEmpty()) {
			throw new LockStoreNotFoundException("Distributed locks need a store, but there is none on the class path",
					"add the dependency io.github.lockstarter:lock-starter for Redis, lock-starter-jdbc for a"
							+ " database, or lock-starter-zookeeper");
		}
		if (kinds.size() > 1) {
			throw new LockStoreNotFoundException(
					"Distributed locks need one default store, but there are several kinds of stores on the class path: "
							+ quoted(kinds),
					"set distributed-lock.store to one of them");
		}
		return kinds.get(0);
	}

	private static String quoted(List<?> names) {
		return names.stream().map((name) -> "'" + name + "'").sorted().collect(Collectors.joining(", "));
	}

	/**
	 * The kinds of stores that may be on the class path.
	 */
	private enum Kind {

		REDIS(RedisLockConfiguration.REGISTRY, RedisLockConfiguration.STORE,
				"add the dependency io.github.lockstarter:lock-starter, which brings Spring Data Redis"),

		JDBC(JdbcLockConfiguration.REGISTRY, JdbcLockConfiguration.STORE,
				"add the dependency io.github.lockstarter:lock-starter-jdbc, which brings HikariCP"),

		ZOOKEEPER(ZooKeeperLockConfiguration.REGISTRY, ZooKeeperLockConfiguration.STORE,
				"add the dependency io.github.lockstarter:lock-starter-zookeeper"),

		REDLOCK(RedlockConfiguration.REGISTRY, RedlockConfiguration.STORE,
				"set distributed-lock.redlock.nodes to the addresses of at least three servers, with the dependency"
						+ " io.github.lockstarter:lock-starter, which brings Lettuce");

		private final String registry;

		private final String store;

		private final String remedy;

		Kind(String registry, String store, String remedy) {
			this.registry = registry;
			this.store = store;
			this.remedy = remedy;
		}

		@Override
		public String toString() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

}
