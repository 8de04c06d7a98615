// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;
import java.util.List;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Recognizes the lifecycle callbacks of a bean. Spring calls them on the bean itself and
 * bypasses its proxy.
 */
final class LifecycleCallbacks {

	private static final List<String> ANNOTATIONS = List.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy");

	private final ConfigurableListableBeanFactory beanFactory;

	LifecycleCallbacks(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Return whether Spring calls a method when the bean is initialized or destroyed.
	 */
	boolean contains(String name, Method method) {
		if (method.getParameterCount() > 0) {
			return false;
		}
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.DIRECT);
		return ANNOTATIONS.stream().anyMatch(annotations::isPresent)
				|| isOf(InitializingBean.class, "afterPropertiesSet", method)
				|| isOf(DisposableBean.class, "destroy", method) || isNamedByDefinition(name, method);
	}

	private static boolean isOf(Class<?> type, String name, Method method) {
		return method.getName().equals(name) && type.isAssignableFrom(method.getDeclaringClass());
	}

	/**
	 * The definition of a factory bean names callbacks of the factory, not of its
	 * product.
	 */
	private boolean isNamedByDefinition(String name, Method method) {
		if (!this.beanFactory.containsBeanDefinition(name) || this.beanFactory.isFactoryBean(name)) {
			return false;
		}
		BeanDefinition definition = this.beanFactory.getMergedBeanDefinition(name);
		return method.getName().equals(definition.getInitMethodName())
				|| method.getName().equals(definition.getDestroyMethodName());
	}

}
