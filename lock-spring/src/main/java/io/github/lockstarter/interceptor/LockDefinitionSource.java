// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.store.LockStores;

/**
 * Provides the lock definition of each annotated method.
 */
public final class LockDefinitionSource {

	private final Map<MethodClassKey, Optional<LockDefinition>> definitions = new ConcurrentHashMap<>();

	private final ConfigurableBeanFactory beanFactory;

	/** Created at the first need, because this object exists before other beans. */
	private volatile @Nullable LockDefinitionParser parser;

	/**
	 * Create a source.
	 * @param beanFactory resolves placeholders and <code>@bean</code> references, and has
	 * the settings of lock names and the stores
	 */
	public LockDefinitionSource(ConfigurableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	private LockDefinitionParser parser() {
		LockDefinitionParser parser = this.parser;
		if (parser == null) {
			ConfigurableBeanFactory beans = this.beanFactory;
			parser = new LockDefinitionParser(beans::resolveEmbeddedValue, new BeanFactoryResolver(beans),
					beans::containsBean, beans.getBeanProvider(LockSettings.class).getIfUnique(() -> LockSettings.NONE),
					() -> beans.getBeanProvider(LockStores.class).getIfUnique());
			this.parser = parser;
		}
		return parser;
	}

	/**
	 * Return the lock of a method.
	 * @param method the method that is called, possibly of an interface
	 * @param targetClass the class of the bean
	 * @return the definition, or {@code null} if the method has no lock
	 * @throws InvalidLockDefinitionException if the annotation cannot work
	 */
	@Nullable LockDefinition get(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<LockDefinition> definition = this.definitions.get(key);
		if (definition == null) {
			definition = Optional.ofNullable(create(method, targetClass));
			this.definitions.put(key, definition);
		}
		return definition.orElse(null);
	}

	/**
	 * Check the annotations of a method before its first call, and return its locks.
	 * @param method a method of the class or of one of its interfaces
	 * @param targetClass the class of the bean
	 * @return a request for each lock, without its key; none if the method has no lock
	 * @throws InvalidLockDefinitionException if an annotation cannot work
	 */
	public List<LockRequest> requests(Method method, Class<?> targetClass) {
		LockDefinition definition = get(method, targetClass);
		return (definition != null) ? definition.locks().stream().map(KeyedRequest::request).toList() : List.of();
	}

	/**
	 * Return whether an annotation that is known so far asks for fenced transactions.
	 */
	public boolean asksForFence() {
		return this.definitions.values()
			.stream()
			.flatMap(Optional::stream)
			.anyMatch((definition) -> definition.transactionFencing() == TransactionFencing.ON);
	}

	/**
	 * Return whether a method has a lock, even if its definition is invalid.
	 */
	boolean hasLock(Method method, Class<?> targetClass) {
		Method specific = specificMethod(method, targetClass);
		return !LockAnnotations.find(specific, owner(specific, targetClass)).isEmpty();
	}

	private @Nullable LockDefinition create(Method method, Class<?> targetClass) {
		Method specific = specificMethod(method, targetClass);
		Class<?> owner = owner(specific, targetClass);
		List<DistributedLock> annotations = LockAnnotations.find(specific, owner);
		return annotations.isEmpty() ? null : parser().parse(annotations, specific, owner);
	}

	private static Method specificMethod(Method method, Class<?> targetClass) {
		return LockAnnotations.isByInterface(targetClass) ? ClassUtils.getInterfaceMethodIfPossible(method, targetClass)
				: AopUtils.getMostSpecificMethod(method, targetClass);
	}

	private static Class<?> owner(Method specific, Class<?> targetClass) {
		return LockAnnotations.isByInterface(targetClass) ? specific.getDeclaringClass() : targetClass;
	}

}
