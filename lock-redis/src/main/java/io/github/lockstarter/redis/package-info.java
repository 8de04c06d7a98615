// SPDX-License-Identifier: Apache-2.0

/**
 * Locks in Redis or Valkey, through Spring Data Redis with any driver.
 */
@NullMarked
package io.github.lockstarter.redis;

import org.jspecify.annotations.NullMarked;
