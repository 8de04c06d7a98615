// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The lock belongs to another owner.
 *
 * @param remaining how long the other owner's lease lasts if it is not renewed, or
 * {@code null} if that is not known
 */
public record LockRefusal(@Nullable Duration remaining) implements LockAttempt {

}
