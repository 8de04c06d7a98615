// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.analyzer.AbstractInjectionFailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Analyzer for missing beans whose classes are present only because the starter adds
 * Spring Data Redis for the locks.
 */
class MissingRedisBeanFailureAnalyzer extends AbstractInjectionFailureAnalyzer<NoSuchBeanDefinitionException>
		implements Ordered {

	private static final String REDIS = "org.springframework.data.redis.";

	private static final String STARTER = "org.springframework.boot:spring-boot-starter-data-redis";

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, NoSuchBeanDefinitionException cause,
			@Nullable String description) {
		ResolvableType required = cause.getResolvableType();
		Class<?> type = (required != null) ? required.resolve() : null;
		if (type == null || cause instanceof NoUniqueBeanDefinitionException || isRedisOfTheApplication()) {
			return null;
		}
		String missing = ((description != null) ? description : "A component") + " required a bean of type '"
				+ type.getName() + "' that could not be found.";
		if (type.getName().startsWith(REDIS)) {
			return new FailureAnalysis(
					missing + " The connection to Redis that lock-starter adds is used only by the locks.",
					"To use Redis in the application, add the dependency " + STARTER + ".", cause);
		}
		return isRepository(type) ? new FailureAnalysis(
				missing + " lock-starter adds Spring Data Redis. With several Spring Data modules on the class"
						+ " path, a repository must state which module it belongs to.",
				"Extend the repository interface of your module, such as JpaRepository or MongoRepository, or"
						+ " annotate the entity as that module requires, for example with @Table (Spring Data"
						+ " JDBC and R2DBC) or @Document.",
				cause) : null;
	}

	private static boolean isRedisOfTheApplication() {
		return isPresent("org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
				|| !isPresent(REDIS + "connection.RedisConnectionFactory");
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, Thread.currentThread().getContextClassLoader());
	}

	private static boolean isRepository(Class<?> type) {
		return ClassUtils.resolveClassName("org.springframework.data.repository.Repository", type.getClassLoader())
			.isAssignableFrom(type);
	}

	@Override
	public int getOrder() {
		// Before the general analyzer, which has no order and would only report the
		// missing bean
		return Ordered.LOWEST_PRECEDENCE - 1;
	}

}
