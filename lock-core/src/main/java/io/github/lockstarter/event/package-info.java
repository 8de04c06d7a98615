// SPDX-License-Identifier: Apache-2.0

/**
 * What happens to locks, told to {@link io.github.lockstarter.event.LockListener}s as
 * {@link io.github.lockstarter.event.LockEvent}s.
 */
@NullMarked
package io.github.lockstarter.event;

import org.jspecify.annotations.NullMarked;
