// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A monotonic clock that stands still until it is told to move. It starts just before the
 * overflow of a {@code long}, which code that compares two times has to bear.
 */
public final class ManualClock implements LongSupplier {

	private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - Duration.ofSeconds(5).toNanos());

	@Override
	public long getAsLong() {
		return this.nanos.get();
	}

	public void advance(Duration duration) {
		this.nanos.addAndGet(duration.toNanos());
	}

}
