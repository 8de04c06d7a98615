// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.interceptor.LockDefinitionValidator;

/**
 * Puts locks around annotated methods. An advisor is created before all other beans, so
 * it gets the registry late and reads its settings from the environment.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(LockInterceptorConfiguration.Proxies.class)
class LockInterceptorConfiguration {

	@Bean
	@ConditionalOnMissingBean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockDefinitionSource lockDefinitionSource(ConfigurableListableBeanFactory beanFactory) {
		return new LockDefinitionSource(beanFactory);
	}

	@Bean
	@ConditionalOnMissingBean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockAdvisor distributedLockAdvisor(LockDefinitionSource definitions,
			ObjectProvider<LockRegistry> registry, Environment environment) {
		DistributedLockAdvisor advisor = new DistributedLockAdvisor(definitions, registry::getObject);
		Binder binder = Binder.get(environment);
		binder.bind("distributed-lock.advice-order", Integer.class).ifBound(advisor::setOrder);
		binder.bind("distributed-lock.on-active-transaction", OnActiveTransaction.class)
			.ifBound(advisor::setOnActiveTransaction);
		return advisor;
	}

	@Bean
	@ConditionalOnMissingBean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockDefinitionValidator lockDefinitionValidator(LockDefinitionSource definitions,
			ConfigurableListableBeanFactory beanFactory) {
		return new LockDefinitionValidator(definitions, beanFactory);
	}

	/**
	 * Has beans proxied even where nothing else asks for it.
	 */
	static class Proxies implements ImportBeanDefinitionRegistrar {

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
		}

	}

}
