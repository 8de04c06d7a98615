// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

import io.github.lockstarter.spring.LockStoreBeans;
import io.github.lockstarter.store.LockStore;

/**
 * Chooses the default store of an application.
 */
final class LockStoreChoice {

	private static final String PROPERTY = "distributed-lock.store";

	private static final Map<String, String> REMEDIES = Map.of("redis",
			"Add the dependency io.github.lockstarter:lock-starter, which brings Spring Data Redis.", "jdbc",
			"Add the dependency io.github.lockstarter:lock-starter-jdbc, which brings HikariCP.", "zookeeper",
			"Add the dependency io.github.lockstarter:lock-starter-zookeeper.", "redlock",
			"Add the dependency io.github.lockstarter:lock-starter, which brings Lettuce, and set"
					+ " distributed-lock.redlock.nodes to the addresses of at least three servers.");

	private final ConfigurableListableBeanFactory beanFactory;

	LockStoreChoice(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Return the name of a store. For {@code auto}, return that of the only or primary
	 * {@link LockStore} bean of the application, or else the only kind of store on the
	 * class path.
	 * @param name the name of a store, or {@code auto}
	 * @throws LockStoreNotFoundException if there is none, or none can be preferred
	 */
	String choose(String name) {
		List<String> beans = Arrays
			.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, LockStore.class, true, false))
			.sorted()
			.toList();
		List<String> kinds = beans.stream()
			.filter((bean) -> bean.startsWith(LockStoreBeans.KIND))
			.map(LockStoreBeans::storeName)
			.toList();
		List<String> own = beans.stream().filter((bean) -> !bean.startsWith(LockStoreBeans.KIND)).toList();
		if (!name.equals(PropertyChecks.AUTO)) {
			return named(name, kinds, own);
		}
		return own.isEmpty() ? onlyKind(kinds) : primary(own);
	}

	private String named(String name, List<String> kinds, List<String> own) {
		String kind = name.toLowerCase(Locale.ROOT);
		if (own.contains(name)) {
			return name;
		}
		if (kinds.contains(kind) || kind.equals(LockStoreBeans.MEMORY)) {
			return kind;
		}
		List<String> all = all(kinds, own);
		String remedy = remedy(kind);
		throw new InvalidConfigurationPropertyValueException(PROPERTY, name, "There is no such store. Stores: "
				+ quoted(all) + ". " + ((remedy != null) ? remedy : "A LockStore bean has the name of the bean."));
	}

	/**
	 * Return how an application gets a kind of store that it has not, or {@code null} if
	 * it is none.
	 */
	static @Nullable String remedy(String kind) {
		return REMEDIES.get(kind);
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
					"set " + PROPERTY + " to the name of one of these beans, mark one of them as @Primary");
		}
	}

	private String onlyKind(List<String> kinds) {
		if (kinds.isEmpty()) {
			throw new LockStoreNotFoundException("Distributed locks need a store, but there is none on the class path",
					"add the dependency io.github.lockstarter:lock-starter for Redis, lock-starter-jdbc for a"
							+ " database, or lock-starter-zookeeper");
		}
		if (kinds.size() > 1) {
			throw new LockStoreNotFoundException(
					"Distributed locks need one default store, but there are several kinds of stores on the class path: "
							+ quoted(kinds),
					"set " + PROPERTY + " to one of them");
		}
		return kinds.get(0);
	}

	private static List<String> all(List<String> kinds, List<String> own) {
		return Stream.of(kinds, own, List.of(LockStoreBeans.MEMORY)).flatMap(List::stream).distinct().sorted().toList();
	}

	private static String quoted(List<String> names) {
		return names.stream().map((name) -> "'" + name + "'").collect(Collectors.joining(", "));
	}

}
