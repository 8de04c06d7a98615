// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.util.ArrayList;
import java.util.List;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.engine.Time;
import io.github.lockstarter.event.CompositeLockListener;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.LockStores;

/**
 * Declares the {@link LockRegistry} unless the application has one. With transactions on
 * the class path, beans get a registry that takes them into account.
 */
@Configuration(proxyBeanMethods = false)
public class LockRegistryConfiguration {

	@Bean
	@Fallback
	DefaultLockRegistry distributedLockRegistry(LockStores stores, ObjectProvider<LockSettings> lockSettings,
			ObjectProvider<EngineSettings> settings, ObjectProvider<LockListener> listeners, ObjectProvider<Time> time,
			ApplicationEventPublisher publisher) {
		return new DefaultLockRegistry(stores, lockSettings.getIfAvailable(() -> LockSettings.NONE),
				settings.getIfAvailable(() -> EngineSettings.DEFAULTS), all(listeners, publisher),
				time.getIfAvailable(() -> Time.SYSTEM));
	}

	@Bean
	@Conditional(TransactionsPresent.class)
	TransactionAwareLockRegistry distributedLockTransactionAwareRegistry(DefaultLockRegistry registry,
			LockAdvice advice, ObjectProvider<LockListener> listeners, ApplicationEventPublisher publisher) {
		return new TransactionAwareLockRegistry(registry, advice.onActiveTransaction(), advice.onPersistenceContext(),
				all(listeners, publisher));
	}

	private static LockListener all(ObjectProvider<LockListener> listeners, ApplicationEventPublisher publisher) {
		List<LockListener> all = new ArrayList<>(listeners.orderedStream().toList());
		all.add(new ApplicationEventLockListener(publisher));
		return new CompositeLockListener(all);
	}

}
