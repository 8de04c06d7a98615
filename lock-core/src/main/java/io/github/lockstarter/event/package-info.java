// SPDX-License-Identifier: Apache-2.0

/**
 * What happens to locks: {@link io.github.lockstarter.event.LockEvent}s for
 * {@link io.github.lockstarter.event.LockListener}s.
 */
@NullMarked
package io.github.lockstarter.event;

import org.jspecify.annotations.NullMarked;
