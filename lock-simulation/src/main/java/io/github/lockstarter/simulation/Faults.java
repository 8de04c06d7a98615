// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.simulation;

import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * What goes wrong in a world, and how often. The faults of requests are chances in 1000;
 * those of the world are how many strike in a run of one minute.
 *
 * @param lostRequests requests that never arrive
 * @param lostAnswers requests that are carried out, and have no answer
 * @param lostMessages messages that never arrive
 * @param repeatedRequests requests that are carried out twice
 * @param slowAnswers answers, requests and messages that take up to 3 s
 * @param standstills an instance does nothing for 10 ms to 60 s
 * @param kills an instance ends without a word, and a new one starts
 * @param shutdowns an instance ends in order, and a new one starts
 * @param cuts the network of an instance is cut, and healed
 * @param deafness the messages to an instance are lost for a while
 * @param dataLosses the server forgets all locks
 * @param interrupts a caller is interrupted
 */
record Faults(int lostRequests, int lostAnswers, int lostMessages, int repeatedRequests, int slowAnswers,
		int standstills, int kills, int shutdowns, int cuts, int deafness, int dataLosses, int interrupts) {

	/** No fault. */
	static final Faults NONE = new Faults(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

	/**
	 * Draw faults: a fifth of the worlds have none, and others have some kinds of them.
	 */
	static Faults draw(Random random) {
		if (random.nextInt(5) == 0) {
			return NONE;
		}
		return new Faults(some(random, 30), some(random, 30), some(random, 100), some(random, 30), some(random, 10),
				some(random, 10), some(random, 4), some(random, 3), some(random, 6), some(random, 4), some(random, 3),
				some(random, 20));
	}

	private static int some(Random random, int most) {
		return random.nextBoolean() ? 0 : 1 + random.nextInt(most);
	}

	boolean requestIsLost(Random random) {
		return strikes(this.lostRequests, random);
	}

	boolean answerIsLost(Random random) {
		return strikes(this.lostAnswers, random);
	}

	boolean messageIsLost(Random random) {
		return strikes(this.lostMessages, random);
	}

	boolean requestIsRepeated(Random random) {
		return strikes(this.repeatedRequests, random);
	}

	long slowness(Random random) {
		return strikes(this.slowAnswers, random) ? TimeUnit.MILLISECONDS.toNanos(random.nextInt(3000)) : 0;
	}

	private static boolean strikes(int chance, Random random) {
		return chance > 0 && random.nextInt(1000) < chance;
	}

	/**
	 * Return whether nothing goes wrong that an owner or a waiter could notice.
	 */
	boolean isNone() {
		return equals(NONE);
	}

}
