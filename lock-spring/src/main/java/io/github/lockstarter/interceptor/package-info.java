// SPDX-License-Identifier: Apache-2.0

/**
 * Puts the locks of {@link io.github.lockstarter.DistributedLock} around methods.
 */
@NullMarked
package io.github.lockstarter.interceptor;

import org.jspecify.annotations.NullMarked;
