// SPDX-License-Identifier: Apache-2.0

/**
 * Locks within one JVM, for the tests of applications.
 */
@NullMarked
package io.github.lockstarter.memory;

import org.jspecify.annotations.NullMarked;
