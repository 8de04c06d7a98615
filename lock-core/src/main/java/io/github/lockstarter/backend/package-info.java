// SPDX-License-Identifier: Apache-2.0

/**
 * The service provider interface of lock stores. A
 * {@link io.github.lockstarter.backend.LockBackend} grants, extends and gives back; it
 * knows nothing of threads, reentrancy or renewal.
 */
@NullMarked
package io.github.lockstarter.backend;

import org.jspecify.annotations.NullMarked;
