// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.aspectj.lang.annotation.Aspect;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.interceptor.DistributedLockWeaving;
import io.github.lockstarter.interceptor.LockDefinitionSource;

/**
 * Locks by weaving. Without AspectJ no class is woven, which the validation says of the
 * beans that need it.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(Aspect.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class LockWeavingConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockWeaving distributedLockWeaving(LockDefinitionSource definitions,
			ObjectProvider<LockRegistry> registry, Environment environment) {
		OnActiveTransaction onActiveTransaction = Binder.get(environment)
			.bind("distributed-lock.on-active-transaction", OnActiveTransaction.class)
			.orElse(OnActiveTransaction.DEFER);
		return DistributedLockWeaving.locking(definitions, registry::getObject, onActiveTransaction);
	}

}
