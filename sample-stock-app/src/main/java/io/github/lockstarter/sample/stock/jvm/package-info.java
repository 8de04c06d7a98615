// SPDX-License-Identifier: Apache-2.0

/**
 * Locks of one JVM, which other instances do not see.
 */
@NullMarked
package io.github.lockstarter.sample.stock.jvm;

import org.jspecify.annotations.NullMarked;
