// SPDX-License-Identifier: Apache-2.0

/**
 * The public API of the locks, for programs with and without Spring.
 * <ul>
 * <li>{@link io.github.lockstarter.DistributedLock} puts a lock around a method.</li>
 * <li>{@link io.github.lockstarter.LockTemplate} does the same for a lambda.</li>
 * <li>{@link io.github.lockstarter.LockRegistry} grants a
 * {@link io.github.lockstarter.Lease} for a {@link io.github.lockstarter.LockRequest}, or
 * provides a {@link java.util.concurrent.locks.Lock} for a
 * {@link io.github.lockstarter.LockKey}.</li>
 * <li>{@link io.github.lockstarter.LockException} is the base class of their
 * exceptions.</li>
 * </ul>
 */
@NullMarked
package io.github.lockstarter;

import org.jspecify.annotations.NullMarked;
