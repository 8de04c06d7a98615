// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.TransactionFencing;

/**
 * Finds the annotations of methods and parses them.
 */
public final class LockDefinitionSource {

	private final ConfigurableBeanFactory beanFactory;

	/** The method to which each default name belongs. */
	private final Map<String, String> defaultNames = new ConcurrentHashMap<>();

	private volatile boolean asksForFence;

	/**
	 * Create a source.
	 * @param beanFactory resolves placeholders and <code>@bean</code> references, and has
	 * the settings of lock names
	 */
	public LockDefinitionSource(ConfigurableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Check the annotations of a method before its first call.
	 * @param method a method of the class or of one of its interfaces
	 * @param targetClass the class of the bean
	 * @param locks called for each lock of the method, with the name or qualifier of its
	 * registry, which is empty for the default one, and with its request without the key
	 * @throws InvalidLockDefinitionException if an annotation cannot work
	 */
	public void check(Method method, Class<?> targetClass, BiConsumer<String, LockRequest> locks) {
		LockOperation operation = parse(method, targetClass);
		if (operation != null) {
			operation.locks().forEach((lock) -> locks.accept(operation.registry(), lock.request()));
		}
	}

	/**
	 * Return whether an annotation that was parsed so far asks for fenced transactions.
	 */
	public boolean asksForFence() {
		return this.asksForFence;
	}

	/**
	 * Return whether a method has a lock, even if its annotation is invalid.
	 */
	boolean hasLock(Method method, Class<?> targetClass) {
		Method specific = specificMethod(method, targetClass);
		return !LockAnnotations.find(specific, owner(specific, targetClass)).isEmpty();
	}

	/**
	 * Parse the annotations of a method.
	 * @param method the method that is called, possibly of an interface
	 * @param targetClass the class of the bean
	 * @return the operation, or {@code null} if the method has no lock
	 * @throws InvalidLockDefinitionException if an annotation cannot work
	 */
	@Nullable LockOperation parse(Method method, Class<?> targetClass) {
		Method specific = specificMethod(method, targetClass);
		Class<?> owner = owner(specific, targetClass);
		List<DistributedLock> annotations = LockAnnotations.find(specific, owner);
		if (annotations.isEmpty()) {
			return null;
		}
		LockOperation operation = new LockDefinitionParser(this.beanFactory, this.defaultNames, specific, owner)
			.parse(annotations);
		if (operation.transactionFencing() == TransactionFencing.ON) {
			this.asksForFence = true;
		}
		return operation;
	}

	private static Method specificMethod(Method method, Class<?> targetClass) {
		return LockAnnotations.isByInterface(targetClass) ? ClassUtils.getInterfaceMethodIfPossible(method, targetClass)
				: AopUtils.getMostSpecificMethod(method, targetClass);
	}

	private static Class<?> owner(Method specific, Class<?> targetClass) {
		return LockAnnotations.isByInterface(targetClass) ? specific.getDeclaringClass() : targetClass;
	}

}
