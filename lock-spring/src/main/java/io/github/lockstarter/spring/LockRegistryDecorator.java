// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.engine.DefaultLockRegistry;

/**
 * Wraps the registries that a {@link LockRegistryFactory} creates, to see when a lock is
 * requested and when it is granted. A context has one at most.
 */
@FunctionalInterface
public interface LockRegistryDecorator {

	/**
	 * Return a registry around another one. It is inside of the one that takes
	 * transactions into account, so a lock whose release is deferred is held until the
	 * transaction has ended.
	 * @param registry acquires the locks, and is the {@linkplain LockRegistry#delegate()
	 * delegate} of the result
	 */
	LockRegistry decorate(DefaultLockRegistry registry);

}
