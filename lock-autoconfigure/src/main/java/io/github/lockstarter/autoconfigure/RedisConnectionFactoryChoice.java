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
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Chooses the connection factory of the application for the locks.
 */
final class RedisConnectionFactoryChoice {

	private static final String PROPERTY = "distributed-lock.redis.connection-factory";

	private final ListableBeanFactory beanFactory;

	RedisConnectionFactoryChoice(ListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Return the connection factory with a name. For {@code auto}, return the only or the
	 * primary one, or {@code null} if there is none.
	 * @param name the name of a bean or its qualifier, or {@code auto}
	 * @throws LockStoreNotFoundException if none or several match
	 */
	@Nullable RedisConnectionFactory choose(String name) {
		boolean named = !name.equals(DistributedLockProperties.CHOOSE_CONNECTION_FACTORY);
		try {
			return named ? BeanFactoryAnnotationUtils.qualifiedBeanOfType(this.beanFactory,
					RedisConnectionFactory.class, name)
					: this.beanFactory.getBeanProvider(RedisConnectionFactory.class).getIfAvailable();
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw notChosen(named ? "several RedisConnectionFactory beans have the qualifier '" + name + "'"
					: "there are several RedisConnectionFactory beans");
		}
		catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException ex) {
			throw notChosen("there is no RedisConnectionFactory bean with the name or qualifier '" + name + "'");
		}
	}

	private LockStoreNotFoundException notChosen(String problem) {
		String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory,
				RedisConnectionFactory.class);
		String candidates = (names.length == 0) ? "none"
				: Arrays.stream(names).sorted().map((name) -> "'" + name + "'").collect(Collectors.joining(", "));
		return new LockStoreNotFoundException(
				"Distributed locks need exactly one RedisConnectionFactory bean, but " + problem
						+ ". RedisConnectionFactory beans: " + candidates,
				(names.length == 0)
						? "leave out " + PROPERTY + ", or declare a RedisConnectionFactory bean of that name"
						: "set " + PROPERTY + " to the name or qualifier of one of these beans, mark one"
								+ " RedisConnectionFactory bean as @Primary");
	}

}
