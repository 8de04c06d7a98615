// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.type.AnnotationMetadata;

import io.github.lockstarter.aspectj.DistributedLockWeaving;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;

/**
 * Locks with proxies.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(LockAdvisorConfiguration.Proxies.class)
public class LockAdvisorConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockAdvisor distributedLockAdvisor(LockDefinitionSource definitions,
			ObjectProvider<LockRegistryFactory> registries, LockAdvice advice) {
		DistributedLockAdvisor advisor = new DistributedLockAdvisor(definitions,
				(registry) -> registries.getObject().get(registry));
		advisor.setOrder(advice.order());
		return advisor;
	}

	/**
	 * Classes may still be woven, because the weaver finds the aspect by itself.
	 */
	@Configuration(proxyBeanMethods = false)
	@Conditional(AspectJPresent.class)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static class Weaving {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockWeaving distributedLockWeaving() {
			return DistributedLockWeaving.standingAside();
		}

	}

	/**
	 * Registers the auto-proxy creator if nothing else has.
	 */
	static class Proxies implements ImportBeanDefinitionRegistrar {

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
		}

	}

}
