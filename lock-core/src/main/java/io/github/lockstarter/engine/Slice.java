// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * For how long a tenure may be handed on inside this JVM: without end while no other JVM
 * waits for the lock, else for one time slice.
 *
 * <p>
 * The lock is not handed on by an answer older than a slice. The question is repeated in
 * the background after half of one, which is in time where holds are short; else it has
 * to be asked before the next hold begins.
 */
final class Slice {

	private final long length;

	private final long end;

	private volatile boolean awaited;

	private volatile long answeredAt;

	private volatile long askedAt;

	private volatile boolean asking;

	Slice(long start, long length, boolean awaited) {
		this.length = length;
		this.end = start + length;
		this.answeredAt = start;
		this.awaited = awaited;
	}

	/**
	 * Return whether the lock has to be given back now.
	 */
	boolean isOver(long now) {
		return this.awaited && now - this.end >= 0;
	}

	/**
	 * Return whether another JVM may wait of which nobody has heard: the last answer is
	 * too old, and was already when the question was asked again.
	 */
	boolean mustAsk(long now) {
		return !this.awaited && (this.asking ? this.askedAt : now) - this.answeredAt >= this.length;
	}

	/**
	 * Return whether it is time to ask in the background; then that has to be done.
	 */
	boolean beginProbe(long now) {
		if (this.awaited || this.asking || now - this.answeredAt < this.length / 2) {
			return false;
		}
		return beginAsking(now);
	}

	/**
	 * Return whether the question has to be asked now; false if it is being asked.
	 */
	boolean beginAsking(long now) {
		if (this.asking) {
			return false;
		}
		this.askedAt = now;
		this.asking = true;
		return true;
	}

	/**
	 * Note whether another JVM waits.
	 */
	void answer(long now, boolean awaited) {
		this.awaited = awaited;
		this.answeredAt = now;
		this.asking = false;
	}

	/**
	 * Note that there was no answer: whoever holds the lock must not lose time by asking
	 * a store that is silent.
	 */
	void noAnswer(long now) {
		answer(now, this.awaited);
	}

}
