// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.aspectj.lang.annotation.Aspect;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

import io.github.lockstarter.interceptor.DistributedLockWeaving;

/**
 * Auto-configuration for an application that has switched distributed locks off: woven
 * methods run without a lock, as those of beans do then.
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", havingValue = false)
@ConditionalOnClass(Aspect.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class DisabledLockAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockWeaving distributedLockWeaving() {
		return DistributedLockWeaving.standingAside();
	}

}
