// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.LockStores;

/**
 * The stores of an application context: its {@link LockStore} beans by their names, and
 * the memory of this JVM as {@code memory}. A lazy bean is created when its store is
 * needed.
 */
public final class LockStoreBeans implements LockStores, BeanNameAware {

	/**
	 * Start of the names of beans that stand for a kind of store: the bean of
	 * {@code redis} is {@code distributedLockStore.redis}.
	 */
	public static final String KIND = "distributedLockStore.";

	/**
	 * Name of the store in the memory of this JVM.
	 */
	public static final String MEMORY = "memory";

	private final ConfigurableListableBeanFactory beanFactory;

	private final String defaultName;

	private final LockStore memory = new MemoryLockStore();

	private volatile @Nullable String beanName;

	/**
	 * Create the stores.
	 * @param beanFactory contains the beans
	 * @param defaultName the name of the default store
	 */
	public LockStoreBeans(ConfigurableListableBeanFactory beanFactory, String defaultName) {
		this.beanFactory = beanFactory;
		this.defaultName = defaultName;
	}

	/**
	 * Return the stores of an application whose default store is its only or its primary
	 * {@link LockStore} bean.
	 * @param beanFactory contains the beans
	 */
	public static LockStoreBeans of(ConfigurableListableBeanFactory beanFactory) {
		String defaultBean = beanFactory.resolveNamedBean(LockStore.class).getBeanName();
		return new LockStoreBeans(beanFactory, storeName(defaultBean));
	}

	/**
	 * Return the name of the store that a bean stands for.
	 * @param beanName the name of the bean
	 */
	public static String storeName(String beanName) {
		return beanName.startsWith(KIND) ? beanName.substring(KIND.length()) : beanName;
	}

	@Override
	public void setBeanName(String name) {
		this.beanName = name;
	}

	@Override
	public String defaultName() {
		return this.defaultName;
	}

	@Override
	public @Nullable LockStore find(String name) {
		if (isStore(name)) {
			return bean(name);
		}
		if (isStore(KIND + name)) {
			return bean(KIND + name);
		}
		return name.equals(MEMORY) ? this.memory : null;
	}

	private boolean isStore(String bean) {
		return this.beanFactory.containsBean(bean) && this.beanFactory.isTypeMatch(bean, LockStore.class);
	}

	private LockStore bean(String name) {
		LockStore store = this.beanFactory.getBean(name, LockStore.class);
		String user = this.beanName;
		if (user != null) {
			// At the end the locks are closed first, even if the store was created last
			this.beanFactory.registerDependentBean(name, user);
		}
		return store;
	}

	@Override
	public String canonicalName(String name) {
		String requested = isStore(name) ? name : KIND + name;
		return Arrays.stream(beanNames())
			.filter((bean) -> bean.equals(requested)
					|| Arrays.asList(this.beanFactory.getAliases(bean)).contains(requested))
			.findFirst()
			.map(LockStoreBeans::storeName)
			.orElse(name);
	}

	@Override
	public Set<String> names() {
		Set<String> names = new TreeSet<>();
		names.add(MEMORY);
		for (String bean : beanNames()) {
			names.add(storeName(bean));
		}
		return names;
	}

	/** Without aliases. */
	private String[] beanNames() {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, LockStore.class, true, false);
	}

}
