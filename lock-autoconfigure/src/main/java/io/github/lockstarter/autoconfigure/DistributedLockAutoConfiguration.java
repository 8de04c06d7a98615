// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.LockLifecycle;
import io.github.lockstarter.event.CompositeLockListener;
import io.github.lockstarter.event.LockListener;

/**
 * Auto-configuration for distributed locks.
 */
@AutoConfiguration(afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@EnableConfigurationProperties(DistributedLockProperties.class)
@Import({ RedisLockConfiguration.class, MemoryLockConfiguration.class, NoLockBackendConfiguration.class,
		LockInterceptorConfiguration.class, LockTransactionConfiguration.class })
public final class DistributedLockAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockPropertiesCheck lockPropertiesCheck() {
		return new LockPropertiesCheck();
	}

	@Bean
	@ConditionalOnMissingBean(LockRegistry.class)
	DefaultLockRegistry lockRegistry(LockBackend backend, DistributedLockProperties properties,
			ObjectProvider<LockListener> listeners, ApplicationEventPublisher publisher) {
		List<LockListener> all = new ArrayList<>(listeners.orderedStream().toList());
		all.add(new ApplicationEventLockListener(publisher));
		return new DefaultLockRegistry(backend, properties.engineSettings(), new CompositeLockListener(all));
	}

	@Bean
	@ConditionalOnBean(DefaultLockRegistry.class)
	@ConditionalOnMissingBean
	LockLifecycle lockLifecycle(DefaultLockRegistry registry) {
		return new LockLifecycle(registry);
	}

	@Bean
	@ConditionalOnMissingBean
	LockTemplate lockTemplate(LockRegistry registry, DistributedLockProperties properties) {
		return new LockTemplate(registry).withOnActiveTransaction(properties.onActiveTransaction());
	}

}
