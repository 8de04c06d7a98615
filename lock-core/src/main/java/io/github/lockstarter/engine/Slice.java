// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * Limits hand-offs within a tenure: unlimited while no other JVM waits for the lock,
 * otherwise one time slice.
 *
 * <p>
 * A hand-off needs an answer from the store that is not older than a slice. The question
 * is repeated in the background after half a slice, which is in time if holds are short.
 * Otherwise the store must be asked before the next hold begins.
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
	 * Return whether the lock must be released now.
	 */
	boolean isOver(long now) {
		return this.awaited && now - this.end >= 0;
	}

	/**
	 * Return whether another JVM may wait without this JVM knowing: the last answer is
	 * too old, and was too old when the question was repeated.
	 */
	boolean mustAsk(long now) {
		return !this.awaited && (this.asking ? this.askedAt : now) - this.answeredAt >= this.length;
	}

	/**
	 * Return whether it is time to ask in the background. If so, the caller must ask.
	 */
	boolean beginProbe(long now) {
		if (this.awaited || this.asking || now - this.answeredAt < this.length / 2) {
			return false;
		}
		return beginAsking(now);
	}

	/**
	 * Return whether the caller must ask now; {@code false} if the question is already
	 * under way.
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
	 * Note that there was no answer: a holder must not lose time by asking a store that
	 * does not answer.
	 */
	void noAnswer(long now) {
		answer(now, this.awaited);
	}

}
