// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Whether the leader of the ensemble has heard of a session lately. A member answers
 * first and reports the session to the leader afterwards, so after a silence, such as a
 * pause of this JVM or of the network, the session may end although a request was just
 * answered.
 */
final class Contact {

	/** Requests of which the leader need not have heard yet. */
	private final Deque<Exchange> answered = new ArrayDeque<>();

	private long knownAt;

	/**
	 * Begin with a connection, which the leader itself has confirmed.
	 * @param since when there was no connection yet
	 */
	synchronized void begin(long since) {
		this.answered.clear();
		this.knownAt = since;
	}

	/**
	 * Note a request that was answered. It has arrived at some time between the two, and
	 * answers to earlier ones may come at the same time, after a silence.
	 */
	synchronized void heard(long sentAt, long answeredAt, long timeout) {
		this.answered.add(new Exchange(sentAt, answeredAt));
		proceed(answeredAt, timeout);
	}

	/**
	 * Return whether the session lasts for some time if a request is answered now: a
	 * request that was sent not too long ago was also answered so early that the leader
	 * has heard of it.
	 * @param now the current time in nanoseconds
	 * @param timeout the session time-out in nanoseconds
	 */
	synchronized boolean isSure(long now, long timeout) {
		proceed(now, timeout);
		return now - this.knownAt <= timeout / 3 + reportTime(timeout);
	}

	private void proceed(long now, long timeout) {
		for (Exchange next = this.answered.peek(); next != null
				&& now - next.answeredAt() >= reportTime(timeout); next = this.answered.peek()) {
			this.knownAt = next.sentAt();
			this.answered.remove();
		}
	}

	/** A member reports after half a tick, and a session lasts two ticks or longer. */
	private static long reportTime(long timeout) {
		return timeout / 4;
	}

	private record Exchange(long sentAt, long answeredAt) {
	}

}
