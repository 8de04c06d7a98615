// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A monotonic clock that moves only on demand. It starts just before the overflow of a
 * {@code long}, with which code that compares two times must cope.
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
