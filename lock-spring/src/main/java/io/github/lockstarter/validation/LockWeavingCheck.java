// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.validation.bytecode.WovenClass;

/**
 * Checks beans whose locks are acquired by weaving: the aspect must be woven into each
 * method.
 */
final class LockWeavingCheck implements LockCheck {

	private static final Log logger = LogFactory.getLog(LockWeavingCheck.class);

	/** How many levels of meta-annotations the pointcut of the aspect matches. */
	private static final int DEEPEST_META_ANNOTATION = 2;

	private final Mocks mocks;

	LockWeavingCheck(Mocks mocks) {
		this.mocks = mocks;
	}

	@Override
	public void check(String name, @Nullable Object bean, Class<?> type, List<Method> locked) {
		if (bean != null && this.mocks.isMock(bean)) {
			return;
		}
		for (Method method : locked) {
			try {
				check(name, method);
			}
			catch (LinkageError ex) {
				// A lazy bean may refer to classes that are missing from this application
				logger.debug("The bean '" + name + "' cannot be checked", ex);
			}
		}
	}

	private static void check(String name, Method method) {
		if (Modifier.isStatic(method.getModifiers())) {
			throw unlocked(method, "the method is static, but only methods of beans can be locked",
					"Make it an instance method of the bean, or use a LockTemplate.");
		}
		if (Modifier.isAbstract(method.getModifiers()) || !isSeenByTheAspect(method)) {
			throw unlocked(method, "weaving needs the annotation on the method of the class, or on the class",
					"Repeat the annotation there and declare the bean '" + name
							+ "' with its class, or set distributed-lock.advice-mode=proxy.");
		}
		if (!WovenClass.of(method.getDeclaringClass()).isWoven(method)) {
			throw unlocked(method,
					"the class " + method.getDeclaringClass().getName()
							+ " is not woven with the aspect, so the method would run without a lock",
					"Start the JVM with -javaagent and the jar of org.aspectj:aspectjweaver, or compile the class with"
							+ " ajc and this library as an aspect library; or set distributed-lock.advice-mode=proxy.");
		}
	}

	private static boolean isSeenByTheAspect(Method method) {
		return isNear(MergedAnnotations.from(method)) || (Modifier.isPublic(method.getModifiers())
				&& isNear(MergedAnnotations.from(method.getDeclaringClass(), SearchStrategy.INHERITED_ANNOTATIONS)));
	}

	private static boolean isNear(MergedAnnotations annotations) {
		MergedAnnotation<DistributedLock> annotation = annotations.get(DistributedLock.class);
		return annotation.isPresent() && annotation.getDistance() <= DEEPEST_META_ANNOTATION;
	}

	private static InvalidLockDefinitionException unlocked(Method method, String problem, String action) {
		return new InvalidLockDefinitionException(method, problem, action, null);
	}

}
