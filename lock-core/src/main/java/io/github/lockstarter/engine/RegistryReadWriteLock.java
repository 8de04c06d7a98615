// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A lock of a registry as a {@link ReadWriteLock}.
 *
 * @param readLock for shared owners
 * @param writeLock for exclusive owners
 */
record RegistryReadWriteLock(Lock readLock, Lock writeLock) implements ReadWriteLock {

}
