// SPDX-License-Identifier: Apache-2.0

/**
 * Locks in Redis or Valkey, through Spring Data Redis and whatever driver it uses.
 */
@NullMarked
package io.github.lockstarter.redis;

import org.jspecify.annotations.NullMarked;
