// SPDX-License-Identifier: Apache-2.0

/**
 * Other ways to lock, right and wrong, each in one small class. Most of them are put
 * around the sale of {@code NoLock}. {@code strategies.md} lists them by what they rely
 * on, and {@code strategies.json} says what to expect of each.
 *
 * <p>
 * The naive locks in Redis are those that tutorials build step by step. Each step mends
 * one fault of the one before, in the order {@code SetWithoutExpiry},
 * {@code SetThenExpire}, {@code ConstantValue}, {@code GetThenDelete},
 * {@code LuaWithoutRenewal}.
 */
@NullMarked
package io.github.lockstarter.sample.strategy;

import org.jspecify.annotations.NullMarked;
