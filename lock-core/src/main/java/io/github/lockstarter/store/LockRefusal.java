// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Another owner holds the lock, or stands before this one in its line.
 *
 * @param remaining how long the lease of the other owner lasts if it is not renewed, or
 * {@code null} if that is not known
 */
public record LockRefusal(@Nullable Duration remaining) implements LockAttempt {

}
