// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportSelector;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.spring.LockAdvice;
import io.github.lockstarter.spring.LockWeavingConfiguration;
import io.github.lockstarter.validation.LockDefinitionValidator;

/**
 * Acquires the locks of annotated methods. Its beans are created before all others, so
 * they look up the registry lazily and read their settings from the environment. A child
 * context has its own, because proxies and checks apply to one context.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(LockInterceptorConfiguration.Selector.class)
class LockInterceptorConfiguration {

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockDefinitionSource distributedLockDefinitionSource(ConfigurableListableBeanFactory beanFactory) {
		return new LockDefinitionSource(beanFactory);
	}

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockDefinitionValidator distributedLockDefinitionValidator(LockDefinitionSource definitions,
			ConfigurableListableBeanFactory beanFactory, LockAdvice advice) {
		return new LockDefinitionValidator(definitions, beanFactory, advice.mode());
	}

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockAdvice distributedLockAdvice(Environment environment) {
		Binder binder = Binder.get(environment);
		return new LockAdvice(adviceMode(environment),
				binder.bind("distributed-lock.advice-order", Integer.class)
					.orElse(DistributedLockAdvisor.DEFAULT_ORDER),
				binder.bind("distributed-lock.on-active-transaction", OnActiveTransaction.class)
					.orElse(OnActiveTransaction.DEFER),
				binder.bind("distributed-lock.persistence-context", OnPersistenceContext.class)
					.orElse(OnPersistenceContext.ISOLATE));
	}

	private static AdviceMode adviceMode(Environment environment) {
		return Binder.get(environment).bind("distributed-lock.advice-mode", AdviceMode.class).orElse(AdviceMode.PROXY);
	}

	/**
	 * Chooses proxies or weaving, never both.
	 */
	static class Selector implements ImportSelector {

		private final Environment environment;

		Selector(Environment environment) {
			this.environment = environment;
		}

		@Override
		public String[] selectImports(AnnotationMetadata metadata) {
			Class<?> selected = (adviceMode(this.environment) == AdviceMode.ASPECTJ) ? LockWeavingConfiguration.class
					: LockAdvisorConfiguration.class;
			return new String[] { selected.getName() };
		}

	}

}
