// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Arrays;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;

/**
 * Chooses the bean of the application through which a store reaches its servers.
 *
 * @param <T> the type of the bean
 */
final class BeanChoice<T> {

	private final ListableBeanFactory beanFactory;

	private final Class<T> type;

	private final String property;

	/**
	 * Create a choice.
	 * @param property the property that names the bean, without its prefix
	 */
	BeanChoice(ListableBeanFactory beanFactory, Class<T> type, String property) {
		this.beanFactory = beanFactory;
		this.type = type;
		this.property = "distributed-lock." + property;
	}

	/**
	 * Return the bean with a name. For {@code auto}, return the only or the primary one,
	 * or {@code null} if there is none.
	 * @param name the name of a bean or its qualifier, or {@code auto}
	 * @throws LockStoreNotFoundException if none or several match
	 */
	@Nullable T choose(String name) {
		boolean named = !name.equals(Property.AUTO);
		try {
			return named ? BeanFactoryAnnotationUtils.qualifiedBeanOfType(this.beanFactory, this.type, name)
					: this.beanFactory.getBeanProvider(this.type).getIfAvailable();
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw named ? wrong("several beans have the qualifier '" + name + "'") : several();
		}
		catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException ex) {
			throw wrong("there is none with the name or qualifier '" + name + "'");
		}
	}

	private LockStoreNotFoundException several() {
		String type = this.type.getSimpleName();
		return new LockStoreNotFoundException(
				"Distributed locks need one " + type + " bean, but there are several: " + candidates(),
				"set " + this.property + " to the name or qualifier of one of these beans, mark one " + type
						+ " bean as @Primary");
	}

	private LockStoreNotFoundException wrong(String problem) {
		String type = this.type.getSimpleName();
		String candidates = candidates();
		boolean none = candidates.isEmpty();
		return new LockStoreNotFoundException(
				"The property " + this.property + " has to name one " + type + " bean, but " + problem + ". " + type
						+ " beans: " + (none ? "none" : candidates),
				none ? "leave out " + this.property + ", or declare a " + type + " bean of that name"
						: "set " + this.property + " to the name or qualifier of one of these beans");
	}

	private String candidates() {
		return Arrays.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, this.type))
			.sorted()
			.map((name) -> "'" + name + "'")
			.collect(Collectors.joining(", "));
	}

}
