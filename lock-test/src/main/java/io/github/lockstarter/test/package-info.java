// SPDX-License-Identifier: Apache-2.0

/**
 * For tests of stores and of what uses locks: the contract of a store, a clock that is
 * moved by hand, and a store that fails on demand.
 */
@NullMarked
package io.github.lockstarter.test;

import org.jspecify.annotations.NullMarked;
