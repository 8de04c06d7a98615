// SPDX-License-Identifier: Apache-2.0

/**
 * For tests of stores and of code that uses locks: the contract of a store and of the
 * instances that share it, a clock that moves on demand, a store that fails on demand,
 * and a rule against late locks.
 */
@NullMarked
package io.github.lockstarter.test;

import org.jspecify.annotations.NullMarked;
