// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.aspectj.lang.annotation.Aspect;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
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
import io.github.lockstarter.interceptor.DistributedLockWeaving;
import io.github.lockstarter.interceptor.LockDefinitionSource;

/**
 * Locks by proxies.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(LockProxyConfiguration.Proxies.class)
class LockProxyConfiguration {

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

	/**
	 * Classes may be woven all the same, because the weaver finds the aspect by itself.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Aspect.class)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static class Weaving {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockWeaving distributedLockWeaving() {
			return DistributedLockWeaving.standingAside();
		}

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
