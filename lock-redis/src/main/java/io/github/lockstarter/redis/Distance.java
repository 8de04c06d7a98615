// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.IntStream;

/**
 * How far away the server is, and so for how long a free lock has to be kept for this JVM
 * when it is told: a message and then a request have to travel, which take one round trip
 * on a good day.
 */
final class Distance {

	private static final long SHORTEST = Duration.ofMillis(20).toNanos();

	/** Of a woken thread, beyond the three round trips that are allowed for one. */
	private static final long REACTION = Duration.ofMillis(10).toNanos();

	/** What queue.lua can note: how often the shortest time is doubled. */
	private static final byte[][] NEEDS = IntStream.rangeClosed(0, 6)
		.mapToObj((need) -> Integer.toString(need).getBytes(StandardCharsets.UTF_8))
		.toArray(byte[][]::new);

	/** Who has never had an answer may be anywhere. */
	private static final long UNKNOWN = Duration.ofMillis(100).toNanos();

	private volatile long roundTrip = UNKNOWN;

	/**
	 * Note how long an answer took. A longer time than before may be an exception: that
	 * of the first includes the connection, and that of another a pause of the JVM.
	 */
	void measured(long nanos) {
		long before = this.roundTrip;
		this.roundTrip = (nanos < before) ? nanos : before + (nanos - before) / 8;
	}

	/**
	 * Return for how long the lock has to be kept, as queue.lua wants it.
	 */
	byte[] need() {
		long time = 3 * this.roundTrip + REACTION;
		int need = 0;
		while (SHORTEST << need < time && need < NEEDS.length - 1) {
			need++;
		}
		return NEEDS[need];
	}

}
