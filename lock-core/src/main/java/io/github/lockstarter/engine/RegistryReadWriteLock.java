// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * The two sides of a lock of a registry in the form that the JDK knows.
 *
 * @param readLock for those who share it
 * @param writeLock for those who want it alone
 */
record RegistryReadWriteLock(Lock readLock, Lock writeLock) implements ReadWriteLock {

}
