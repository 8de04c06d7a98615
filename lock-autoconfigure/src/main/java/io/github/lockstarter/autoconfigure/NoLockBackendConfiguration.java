// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.backend.LockBackend;

/**
 * Says what is missing when nothing can keep the locks.
 */
@Configuration(proxyBeanMethods = false)
class NoLockBackendConfiguration {

	@Bean
	@ConditionalOnMissingBean({ LockBackend.class, LockRegistry.class })
	LockBackend missingLockBackend() {
		boolean redis = ClassUtils.isPresent("org.springframework.data.redis.connection.RedisConnectionFactory",
				getClass().getClassLoader());
		throw new LockBackendNotFoundException(redis);
	}

}
