// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.util.ArrayList;
import java.util.List;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.transaction.ConfigurableTransactionManager;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.TransactionAwareLockRegistry;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.CompositeLockListener;
import io.github.lockstarter.event.LockListener;

/**
 * The registry, for an application that has none of its own: the engine, and where there
 * are transactions what beans get instead of it.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(LockRegistry.class)
class LockRegistryConfiguration {

	@Bean
	@Fallback
	DefaultLockRegistry distributedLockRegistry(LockStore store, DistributedLockProperties properties,
			ObjectProvider<LockListener> listeners, ApplicationEventPublisher publisher) {
		List<LockListener> all = new ArrayList<>(listeners.orderedStream().toList());
		all.add(new ApplicationEventLockListener(publisher));
		return new DefaultLockRegistry(store, properties.engineSettings(), new CompositeLockListener(all));
	}

	@Bean
	@ConditionalOnClass(ConfigurableTransactionManager.class)
	TransactionAwareLockRegistry distributedLockTransactionAwareRegistry(DefaultLockRegistry registry,
			DistributedLockProperties properties) {
		return new TransactionAwareLockRegistry(registry, properties.onActiveTransaction());
	}

}
