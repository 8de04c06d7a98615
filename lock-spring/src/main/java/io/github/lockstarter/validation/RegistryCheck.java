// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.DependencyDescriptor;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;

/**
 * Checks that the registry of each annotated method exists and can do what the method
 * asks for, and that each lock name with settings is in use.
 */
final class RegistryCheck {

	private static final Log logger = LogFactory.getLog(RegistryCheck.class);

	private final ConfigurableListableBeanFactory beanFactory;

	/** None in a test slice without locks. */
	private final String[] names;

	private final LockSettings settings;

	private final Map<String, Use> firstUses = new HashMap<>();

	private final Set<String> inSeveral = new HashSet<>();

	RegistryCheck(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, LockRegistry.class, true, false);
		this.settings = beanFactory.getBeanProvider(LockSettings.class).getIfUnique(() -> LockSettings.NONE);
	}

	/**
	 * Check a lock of a method.
	 * @param qualifier the name or qualifier of the registry, empty for the default one
	 * @return the registry, or {@code null} if there is no single one
	 * @throws InvalidLockDefinitionException if its registry cannot acquire it
	 */
	@Nullable LockRegistry check(Method method, String qualifier, LockRequest request) {
		LockRequest complete = complete(method, request);
		LockRegistry bean = (this.names.length > 0) ? find(method, qualifier) : null;
		LockRegistry registry = innermost(bean);
		String name = nameOf(bean, qualifier);
		if (registry instanceof DefaultLockRegistry known) {
			String objection = known.objection(complete);
			if (objection != null) {
				throw new InvalidLockDefinitionException(method, "the lock " + objection,
						"Change the annotation, or name another registry with 'registry'. " + registries(), null);
			}
		}
		Use use = new Use(method, registry, name);
		Use first = this.firstUses.putIfAbsent(request.key().name(), use);
		if (first != null && first.registry() != registry && this.inSeveral.add(request.key().name())) {
			logger.warn("Lock '" + request.key() + "' is in the registry '" + first.name() + "' for '"
					+ InvalidLockDefinitionException.label(first.method()) + "', and in '" + name + "' for '"
					+ InvalidLockDefinitionException.label(method)
					+ "': an owner in one registry does not exclude an owner in the other. If they shall exclude each"
					+ " other, set the same 'registry' in all annotations with this name; otherwise give the lock"
					+ " another 'name' in one of the registries");
		}
		return bean;
	}

	private LockRequest complete(Method method, LockRequest request) {
		try {
			Duration holdAtLeast = this.settings.get(request.key().name()).holdAtLeast();
			return (holdAtLeast == null || request.holdAtLeast() != null) ? request
					: request.withHoldAtLeast(holdAtLeast);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidLockDefinitionException(method,
					"the settings of the lock name '" + request.key().name() + "' do not fit: " + ex.getMessage(),
					"Change the settings, or give the lock of this method a name of its own.", ex);
		}
	}

	private @Nullable LockRegistry find(Method method, String qualifier) {
		try {
			return qualifier.isEmpty() ? injected()
					: BeanFactoryAnnotationUtils.qualifiedBeanOfType(this.beanFactory, LockRegistry.class, qualifier);
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new InvalidLockDefinitionException(method,
					"the lock is requested in the registry '" + qualifier
							+ "', but there are several with this qualifier",
					"Name one of the beans. " + registries(), ex);
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw new InvalidLockDefinitionException(method,
					"the lock is requested in the registry '" + qualifier + "', which does not exist",
					remedy(qualifier) + registries(), ex);
		}
	}

	/**
	 * Return the remedy for an unknown name. Messages name a registry by its store, which
	 * may be the name that was meant; the beans of the starter may not be created yet.
	 */
	private String remedy(String qualifier) {
		return Arrays.stream(this.names)
			.filter((name) -> name.equalsIgnoreCase(qualifier + "LockRegistry")
					|| (this.beanFactory.getSingleton(name) instanceof LockRegistry bean
							&& innermost(bean) instanceof DefaultLockRegistry known && known.name().equals(qualifier)))
			.reduce((first, last) -> last)
			.map((name) -> "'" + qualifier + "' is the store of the bean '" + name + "': name the bean. ")
			.orElse("Correct the name, or declare a LockRegistry bean of that name. ");
	}

	private static @Nullable LockRegistry innermost(@Nullable LockRegistry bean) {
		// A mock has none
		return (bean != null && bean.delegate() != null) ? bean.delegate() : bean;
	}

	/**
	 * Return the registry that is injected by its type, or {@code null} without a single
	 * one. Other look-ups may prefer one that is not to be injected.
	 */
	private @Nullable LockRegistry injected() {
		try {
			Field field = Objects.requireNonNull(ReflectionUtils.findField(Use.class, "registry"));
			return (LockRegistry) this.beanFactory.resolveDependency(new DependencyDescriptor(field, false), null);
		}
		catch (NoUniqueBeanDefinitionException ex) {
			return null;
		}
	}

	/**
	 * Return the name of a registry's bean. The one that is injected may also be that of
	 * a kind of store, whose name says more and comes later.
	 */
	private String nameOf(@Nullable LockRegistry bean, String qualifier) {
		return Arrays.stream(this.names)
			.filter((name) -> bean != null && this.beanFactory.getSingleton(name) == bean)
			.reduce((first, last) -> last)
			.orElse(qualifier);
	}

	private String registries() {
		return Arrays.stream(this.names).sorted().collect(Collectors.joining("', '", "Registries: '", "'."));
	}

	/**
	 * Warn of names in the settings that no annotation has. Without any annotation, as in
	 * a slice of the application, all of them may belong to a registry or a template.
	 */
	void warnOfUnknownNames() {
		TreeSet<String> unknown = new TreeSet<>(this.settings.names().keySet());
		unknown.removeAll(this.firstUses.keySet());
		if (!this.firstUses.isEmpty() && !unknown.isEmpty()) {
			logger.warn("There are settings for the lock name" + ((unknown.size() > 1) ? "s '" : " '")
					+ String.join("', '", unknown)
					+ "', which no @DistributedLock has. Correct misspelt names; for locks that only a LockRegistry or"
					+ " a LockTemplate acquires, ignore this warning");
		}
	}

	private record Use(Method method, @Nullable LockRegistry registry, String name) {
	}

}
