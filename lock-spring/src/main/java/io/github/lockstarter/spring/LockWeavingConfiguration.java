// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

import io.github.lockstarter.aspectj.DistributedLockWeaving;
import io.github.lockstarter.interceptor.LockDefinitionSource;

/**
 * Locks with weaving. Without AspectJ no class is woven, and the validation refuses the
 * beans that need it.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(AspectJPresent.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class LockWeavingConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockWeaving distributedLockWeaving(LockDefinitionSource definitions,
			ObjectProvider<LockRegistryFactory> registries) {
		return DistributedLockWeaving.locking(definitions, (registry) -> registries.getObject().get(registry));
	}

}
