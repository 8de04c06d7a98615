// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRequest;

/**
 * Provides the lock definition of each annotated method.
 */
public final class LockDefinitionSource {

	private final Map<MethodClassKey, Optional<LockDefinition>> definitions = new ConcurrentHashMap<>();

	private final LockDefinitionParser parser;

	/**
	 * Create a source.
	 * @param beanFactory resolves placeholders and <code>@bean</code> references
	 */
	public LockDefinitionSource(ConfigurableBeanFactory beanFactory) {
		this.parser = new LockDefinitionParser(beanFactory::resolveEmbeddedValue, new BeanFactoryResolver(beanFactory),
				beanFactory::containsBean);
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
	 * Check the annotations of a method before its first call.
	 * @param method a method of the class or of one of its interfaces
	 * @param targetClass the class of the bean
	 * @param objections returns why the store cannot grant a request, as the rest of a
	 * sentence that begins with the lock, or {@code null} if it can
	 * @throws InvalidLockDefinitionException if the annotation cannot work
	 */
	public void validate(Method method, Class<?> targetClass, Function<LockRequest, @Nullable String> objections) {
		LockDefinition definition = get(method, targetClass);
		if (definition != null) {
			definition.locks().forEach((lock) -> validate(method, objections.apply(lock.request())));
		}
	}

	private static void validate(Method method, @Nullable String objection) {
		if (objection != null) {
			throw new InvalidLockDefinitionException(method, "the lock " + objection,
					"Change the annotation, or use a store that supports it.", null);
		}
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
		return annotations.isEmpty() ? null : this.parser.parse(annotations, specific, owner);
	}

	private static Method specificMethod(Method method, Class<?> targetClass) {
		return LockAnnotations.isByInterface(targetClass) ? ClassUtils.getInterfaceMethodIfPossible(method, targetClass)
				: AopUtils.getMostSpecificMethod(method, targetClass);
	}

	private static Class<?> owner(Method specific, Class<?> targetClass) {
		return LockAnnotations.isByInterface(targetClass) ? specific.getDeclaringClass() : targetClass;
	}

}
