// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.LockLifecycle;
import io.github.lockstarter.event.CompositeLockListener;
import io.github.lockstarter.event.LockListener;

/**
 * Takes locks from a store.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@Import({ RedisLockConfiguration.class, MemoryLockConfiguration.class, NoLockBackendConfiguration.class })
class EnabledLockConfiguration {

	@Bean
	@ConditionalOnMissingBean(LockRegistry.class)
	DefaultLockRegistry distributedLockRegistry(LockBackend backend, DistributedLockProperties properties,
			ObjectProvider<LockListener> listeners, ApplicationEventPublisher publisher) {
		List<LockListener> all = new ArrayList<>(listeners.orderedStream().toList());
		all.add(new ApplicationEventLockListener(publisher));
		return new DefaultLockRegistry(backend, properties.engineSettings(), new CompositeLockListener(all));
	}

	@Bean
	@ConditionalOnBean(DefaultLockRegistry.class)
	@ConditionalOnMissingBean
	LockLifecycle distributedLockLifecycle(DefaultLockRegistry registry) {
		return new LockLifecycle(registry);
	}

}
