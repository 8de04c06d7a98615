// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

/**
 * Whether the leader of the ensemble has heard of a session lately. A member answers
 * first and reports the session to the leader afterwards, so after a silence, such as a
 * pause of this JVM, the session may end although a request was just answered.
 */
final class Contact {

	private long heardAt;

	private long since;

	/**
	 * Begin with a connection, which the leader itself has confirmed.
	 * @param now the current time in nanoseconds
	 * @param timeout the session time-out in nanoseconds
	 */
	synchronized void begin(long now, long timeout) {
		this.heardAt = now;
		this.since = now - reportTime(timeout);
	}

	/**
	 * Note an answer.
	 * @param sentAt when the request was sent
	 */
	synchronized void heard(long sentAt, long now, long timeout) {
		if (isSilent(sentAt, timeout)) {
			this.since = now;
		}
		if (sentAt - this.heardAt > 0) {
			this.heardAt = sentAt;
		}
	}

	/**
	 * Return whether the session lasts for some time if a request is answered now.
	 */
	synchronized boolean isSure(long now, long timeout) {
		return !isSilent(now, timeout) && now - this.since >= reportTime(timeout);
	}

	/** A client sends something in each third of the time-out. */
	private boolean isSilent(long now, long timeout) {
		return now - this.heardAt > timeout / 3;
	}

	/** A member reports after half a tick, and a session lasts two ticks or longer. */
	private static long reportTime(long timeout) {
		return timeout / 4;
	}

}
