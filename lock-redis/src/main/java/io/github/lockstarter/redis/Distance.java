// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.IntStream;

/**
 * The distance to the server, which determines how long a free lock must be reserved for
 * this JVM when it is woken. A message and then a request must travel, which takes one
 * round trip at best.
 */
final class Distance {

	private static final Duration SHORTEST_TURN = Duration.ofMillis(20);

	/** Time for a woken thread to react, in addition to three round trips. */
	private static final long REACTION = Duration.ofMillis(10).toNanos();

	/** The values of a need in queue.lua: how often the shortest time is doubled. */
	private static final byte[][] NEEDS = IntStream.rangeClosed(0, 6)
		.mapToObj((need) -> Integer.toString(need).getBytes(StandardCharsets.UTF_8))
		.toArray(byte[][]::new);

	/** Without an answer so far, the server may be anywhere. */
	private static final long UNKNOWN = Duration.ofMillis(100).toNanos();

	private final long shortestTurn;

	private final byte[] shortestTurnMillis;

	private volatile long roundTrip = UNKNOWN;

	Distance() {
		this(SHORTEST_TURN);
	}

	/**
	 * Create a distance for a test, which may let turns last longer.
	 */
	Distance(Duration shortestTurn) {
		this.shortestTurn = shortestTurn.toNanos();
		this.shortestTurnMillis = Long.toString(shortestTurn.toMillis()).getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Note how long an answer took. A longer time than before may be an exception: the
	 * first answer includes the connection, and another one a pause of the JVM.
	 */
	void measured(long nanos) {
		long before = this.roundTrip;
		this.roundTrip = (nanos < before) ? nanos : before + (nanos - before) / 8;
	}

	/**
	 * Return the shortest turn in milliseconds.
	 */
	byte[] shortestTurn() {
		return this.shortestTurnMillis;
	}

	/**
	 * Return how long a free lock must be reserved, as a need of queue.lua.
	 */
	byte[] need() {
		long time = 3 * this.roundTrip + REACTION;
		int need = 0;
		while (this.shortestTurn << need < time && need < NEEDS.length - 1) {
			need++;
		}
		return NEEDS[need];
	}

}
