// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Import;

import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;

/**
 * Enables {@link io.github.lockstarter.DistributedLock @DistributedLock} in an
 * application without Spring Boot. Add it to any {@code @Configuration} class.
 * Applications with Spring Boot do not need it.
 *
 * <p>
 * The application declares a bean of type {@link io.github.lockstarter.store.LockStore},
 * and gets a {@link io.github.lockstarter.LockRegistry}, a
 * {@link io.github.lockstarter.LockTemplate} and a check of all annotations at startup. A
 * {@link LockRegistryFactory} creates registries for further stores. With transactions on
 * the class path, no transaction commits after its lock was lost. Optional beans are an
 * {@link io.github.lockstarter.engine.EngineSettings} with wait and lease times, a
 * {@link io.github.lockstarter.LockSettings} with settings of lock names, a
 * {@link io.github.lockstarter.transaction.FencingSettings} to fence transactions, and
 * any number of {@link io.github.lockstarter.event.LockListener}s.
 *
 * <pre class="code">
 * &#064;Configuration
 * &#064;EnableDistributedLocks
 * class LockConfiguration {
 *
 *     &#064;Bean
 *     LockStore lockStore(RedisConnectionFactory connections) {
 *         return new RedisLockStore(connections);
 *     }
 *
 * }
 * </pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import({ LockAdviceRegistrar.class, DistributedLocksSelector.class })
public @interface EnableDistributedLocks {

	/**
	 * Whether proxies or woven classes acquire the locks of annotated methods.
	 */
	AdviceMode mode() default AdviceMode.PROXY;

	/**
	 * Order of the lock among the advisors of a method. Lower values are further outside.
	 * The order must be lower than that of transactions. Weaving ignores it.
	 */
	int order() default DistributedLockAdvisor.DEFAULT_ORDER;

	/**
	 * The reaction to a transaction that is already active when a lock is acquired.
	 */
	OnActiveTransaction onActiveTransaction() default OnActiveTransaction.DEFAULT;

	/**
	 * The reaction to a persistence context of JPA that is open when a lock is acquired.
	 */
	OnPersistenceContext persistenceContext() default OnPersistenceContext.DEFAULT;

}
