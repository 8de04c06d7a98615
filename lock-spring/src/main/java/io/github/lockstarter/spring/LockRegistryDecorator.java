// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import io.github.lockstarter.LockRegistry;

/**
 * Wraps the registries that a {@link LockRegistryFactory} creates, to see when a lock is
 * requested and when it is granted. If there are several, each wraps the one before it,
 * in their {@linkplain org.springframework.core.annotation.Order order}.
 */
@FunctionalInterface
public interface LockRegistryDecorator {

	/**
	 * Return a registry around another one. It is inside of the one that takes
	 * transactions into account, so a lock whose release is deferred is held until the
	 * transaction has ended.
	 * @param name the name of the registry in messages and events
	 * @param registry acquires the locks, and is the {@linkplain LockRegistry#delegate()
	 * delegate} of the result
	 */
	LockRegistry decorate(String name, LockRegistry registry);

}
