// SPDX-License-Identifier: Apache-2.0

/**
 * The service provider interface of lock stores. A
 * {@link io.github.lockstarter.store.LockStore} grants, extends and releases locks; it
 * knows nothing of threads, reentrancy or the time of renewals.
 */
@NullMarked
package io.github.lockstarter.store;

import org.jspecify.annotations.NullMarked;
