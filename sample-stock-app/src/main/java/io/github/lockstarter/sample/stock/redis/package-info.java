// SPDX-License-Identifier: Apache-2.0

/**
 * A lock in a few commands to Redis, as tutorials build it step by step. Each step mends
 * one fault of the one before, in the order {@code SetWithoutExpiry},
 * {@code SetThenExpire}, {@code ConstantValue}, {@code GetThenDelete},
 * {@code LuaWithoutRenewal}.
 */
@NullMarked
package io.github.lockstarter.sample.stock.redis;

import org.jspecify.annotations.NullMarked;
