// SPDX-License-Identifier: Apache-2.0

/**
 * The service provider interface of lock stores. A
 * {@link io.github.lockstarter.store.LockStore} grants, extends and gives back; it knows
 * nothing of threads, reentrancy or renewal.
 */
@NullMarked
package io.github.lockstarter.store;

import org.jspecify.annotations.NullMarked;
