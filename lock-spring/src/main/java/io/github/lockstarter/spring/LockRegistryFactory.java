// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.engine.Time;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LocalStores;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

/**
 * Creates the lock registries of an application context, one for each store. An
 * application that has a further store declares a registry for it:
 *
 * <pre class="code">
 * &#064;Bean(defaultCandidate = false)
 * LockRegistry reportLockRegistry(LockRegistryFactory registries, &#064;Qualifier("reportLockStore") LockStore store) {
 *     return registries.create("reports", store);
 * }
 * </pre>
 *
 * All registries have the {@link LockSettings}, the {@link EngineSettings} and the
 * {@link LockListener}s of the context, and take its transactions into account.
 *
 * <p>
 * When the application stops, all of them are drained within one shutdown timeout: after
 * the web server and message listeners have stopped, and before the connections to the
 * stores close.
 */
public final class LockRegistryFactory implements SmartLifecycle, DisposableBean {

	/**
	 * Phase of the lifecycle. Spring Data Redis closes its connections in phase 0. Web
	 * servers, executors and message listeners stop in much higher phases.
	 */
	public static final int PHASE = 1 << 16;

	private final ConfigurableListableBeanFactory beans;

	/** As it is injected: other look-ups may prefer another one. */
	private final ObjectProvider<LockRegistry> injected;

	private final LockAdvice advice;

	private final ApplicationEventPublisher publisher;

	private final boolean transactions;

	/** By their names; guarded by itself. */
	private final Map<String, DefaultLockRegistry> created = new LinkedHashMap<>();

	/** Around registries of the application's own; guarded by itself. */
	private final Map<LockRegistry, LockRegistry> aware = new IdentityHashMap<>(2);

	private volatile boolean running;

	/** Guarded by the registries. */
	private boolean stopped;

	LockRegistryFactory(ConfigurableListableBeanFactory beans, ObjectProvider<LockRegistry> injected, LockAdvice advice,
			ApplicationEventPublisher publisher) {
		this.beans = beans;
		this.injected = injected;
		this.advice = advice;
		this.publisher = publisher;
		this.transactions = ClassUtils.isPresent("org.springframework.transaction.ConfigurableTransactionManager",
				beans.getBeanClassLoader());
	}

	/**
	 * Create a registry. It is closed as a bean, and does not close the store.
	 * @param name the name of the registry in messages, in events and in the tables of
	 * fenced transactions, the same in all instances
	 * @param store keeps the locks
	 * @throws IllegalArgumentException if another registry has this name, or this store
	 */
	public LockRegistry create(String name, LockStore store) {
		DefaultLockRegistry registry = new DefaultLockRegistry(name,
				this.advice.local() ? bean(LocalStores.class, MemoryLockStore::new).create() : store,
				bean(LockSettings.class, LockSettings.NONE), bean(EngineSettings.class, EngineSettings.DEFAULTS),
				listener(), bean(Time.class, Time.SYSTEM));
		synchronized (this.created) {
			this.created.values().removeIf(DefaultLockRegistry::isClosed);
			for (DefaultLockRegistry other : this.created.values()) {
				if (other.name().equals(name) || other.store() == store) {
					registry.close();
					throw new IllegalArgumentException(
							(other.store() == store)
									? "The store of the lock registry '" + name + "' is that of the registry '"
											+ other.name() + "': use that one, whose locks would be the same"
									: sameName(name));
				}
			}
			this.created.put(name, registry);
			if (this.stopped) {
				registry.refuse();
			}
			else if (this.running) {
				registry.open();
			}
		}
		LockRegistry decorated = registry;
		for (LockRegistryDecorator each : this.beans.getBeanProvider(LockRegistryDecorator.class)
			.orderedStream()
			.toList()) {
			decorated = each.decorate(name, decorated);
		}
		return this.transactions ? new TransactionAwareLockRegistry(name, decorated, this.advice.onActiveTransaction(),
				this.advice.onPersistenceContext(), listener()) : decorated;
	}

	private static String sameName(String name) {
		return "There are two lock registries with the name '" + name
				+ "', whose locks would be confused in the tables of fenced transactions: give each a name of its own";
	}

	private <T> T bean(Class<T> type, T otherwise) {
		return this.beans.getBeanProvider(type).getIfAvailable(() -> otherwise);
	}

	private LockListener listener() {
		List<LockListener> all = new ArrayList<>(
				this.beans.getBeanProvider(LockListener.class).orderedStream().toList());
		all.add(new ApplicationEventLockListener(this.publisher));
		return LockListener.of(all);
	}

	/**
	 * Return the registry for annotated methods or a template. Bodies respect
	 * transactions even if the application has created it itself.
	 * @param qualifier the name or qualifier of its bean, or empty for the one that is
	 * injected by its type
	 */
	LockRegistry get(String qualifier) {
		LockRegistry registry = qualifier.isEmpty() ? this.injected.getObject()
				: BeanFactoryAnnotationUtils.qualifiedBeanOfType(this.beans, LockRegistry.class, qualifier);
		return aware(registry);
	}

	LockRegistry aware(LockRegistry registry) {
		if (!this.transactions || registry instanceof TransactionAwareLockRegistry) {
			return registry;
		}
		String name = (registry instanceof DefaultLockRegistry named) ? named.name() : beanName(registry);
		synchronized (this.aware) {
			return this.aware.computeIfAbsent(registry, (each) -> new TransactionAwareLockRegistry(name, each,
					this.advice.onActiveTransaction(), this.advice.onPersistenceContext(), LockListener.NO_OP));
		}
	}

	private String beanName(LockRegistry registry) {
		return Arrays.stream(this.beans.getBeanNamesForType(LockRegistry.class, false, false))
			.filter((name) -> this.beans.getSingleton(name) == registry)
			.findFirst()
			.orElse(registry.getClass().getName());
	}

	/**
	 * Grant locks.
	 * @throws IllegalStateException if two registries have the same name
	 */
	@Override
	public void start() {
		synchronized (this.created) {
			this.stopped = false;
			this.running = true;
		}
		Set<String> names = new HashSet<>();
		for (DefaultLockRegistry registry : all()) {
			if (!names.add(registry.name())) {
				throw new IllegalStateException(sameName(registry.name()));
			}
			registry.open();
		}
	}

	@Override
	public void stop() {
		synchronized (this.created) {
			this.stopped = true;
		}
		Collection<DefaultLockRegistry> all = all();
		all.forEach(DefaultLockRegistry::refuse);
		all.forEach(DefaultLockRegistry::drain);
		this.running = false;
	}

	/**
	 * Return the registries that exist by their names, also those that the application
	 * has created itself. For tools; an application injects a {@link LockRegistry}. None
	 * is created to be looked at, because that would connect to servers that nothing
	 * uses.
	 */
	public Map<String, DefaultLockRegistry> byName() {
		Map<String, DefaultLockRegistry> registries = new TreeMap<>();
		all().forEach((each) -> registries.put(each.name(), each));
		return registries;
	}

	private Collection<DefaultLockRegistry> all() {
		List<DefaultLockRegistry> all = new ArrayList<>();
		synchronized (this.created) {
			this.created.values().removeIf(DefaultLockRegistry::isClosed);
			all.addAll(this.created.values());
		}
		for (String name : this.beans.getBeanNamesForType(DefaultLockRegistry.class, false, false)) {
			if (this.beans.containsSingleton(name) && this.beans.getBean(name) instanceof DefaultLockRegistry registry
					&& !isKnown(registry, all)) {
				all.add(registry);
			}
		}
		return all;
	}

	/** A spy is another object with the same store, and a mock has no name. */
	private static boolean isKnown(DefaultLockRegistry registry, List<DefaultLockRegistry> all) {
		return registry.name() == null || all.stream()
			.anyMatch((each) -> each.name().equals(registry.name()) && each.store() == registry.store());
	}

	/**
	 * Close the registries that are no beans.
	 */
	@Override
	public void destroy() {
		synchronized (this.created) {
			this.created.values().forEach(DefaultLockRegistry::close);
		}
	}

	@Override
	public void stop(Runnable callback) {
		// Other beans of this phase need not wait for the holders
		new Thread(() -> {
			try {
				stop();
			}
			finally {
				callback.run();
			}
		}, "lock-shutdown").start();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
