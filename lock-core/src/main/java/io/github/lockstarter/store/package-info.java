// SPDX-License-Identifier: Apache-2.0

/**
 * The service provider interface of lock stores. A
 * {@link io.github.lockstarter.store.LockStore} grants, renews and releases locks; it
 * knows nothing about threads, reentrancy or the schedule of renewals.
 */
@NullMarked
package io.github.lockstarter.store;

import org.jspecify.annotations.NullMarked;
