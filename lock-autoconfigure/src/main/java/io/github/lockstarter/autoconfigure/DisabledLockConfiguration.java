// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.apache.commons.logging.LogFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.engine.DisabledLockRegistry;

/**
 * Grants every lock at once in an application that has disabled distributed locks.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", havingValue = false)
class DisabledLockConfiguration {

	@Bean
	@ConditionalOnMissingBean(LockRegistry.class)
	DisabledLockRegistry distributedLockRegistry() {
		LogFactory.getLog(DisabledLockConfiguration.class)
			.warn("Distributed locks are disabled (distributed-lock.enabled=false): every lock is granted at"
					+ " once, without mutual exclusion");
		return new DisabledLockRegistry();
	}

}
