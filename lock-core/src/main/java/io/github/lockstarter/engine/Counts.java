// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

/**
 * What one registry of this instance counts, for meters and health checks.
 *
 * @param handOffs how often a lock was passed to the next waiter of this instance without
 * asking the store, since the start
 * @param orphans how many acquisitions of unknown outcome and failed releases are being
 * returned to the store now
 * @param renewalLag how late the most overdue renewal is now, zero if none is due
 * @param suspects how many locks have a lease now whose last renewal or look-up failed
 */
public record Counts(long handOffs, int orphans, Duration renewalLag, int suspects) {
}
