// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;

import io.github.lockstarter.spring.LockRegistryFactory;

/**
 * Auto-configuration for the health of the locks, if the application has Spring Boot's
 * support for health.
 */
@AutoConfiguration(after = DistributedLockAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
@ConditionalOnBean(LockRegistryFactory.class)
@ConditionalOnEnabledHealthIndicator("locks")
public final class LocksHealthContributorAutoConfiguration {

	/** Spring Boot takes the name of the contributor from that of the bean. */
	@Bean
	@ConditionalOnMissingBean(name = { "locksHealthIndicator", "locksHealthContributor" })
	LocksHealthContributor locksHealthContributor(LockRegistryFactory registries) {
		return new LocksHealthContributor(registries::byName, StoreAnswer.PATIENCE);
	}

}
