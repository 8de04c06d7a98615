// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import io.github.lockstarter.store.LockStore;

/**
 * Creates the stores of an application that keeps all its locks in its JVM, one for each
 * of its registries. A test kit declares a bean of this type in order to see the locks,
 * and to let them fail.
 */
@FunctionalInterface
public interface LocalStores {

	/**
	 * Create a store without locks.
	 */
	LockStore create();

}
