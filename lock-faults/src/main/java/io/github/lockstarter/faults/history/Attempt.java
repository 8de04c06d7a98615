// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.history;

import java.util.EnumMap;
import java.util.Map;

/**
 * One attempt of a thread to hold a lock, from its request to the end of its hold. Times
 * are nanoseconds of the clock that all processes of a computer share.
 */
public final class Attempt {

	/** Later than every other time. */
	public static final long NEVER = Long.MAX_VALUE;

	private final String owner;

	private final String key;

	private final boolean nested;

	private final Map<Step, Long> times = new EnumMap<>(Step.class);

	private long token;

	/**
	 * Create an attempt.
	 * @param owner process and thread
	 * @param key the lock
	 * @param nested whether the thread already holds the lock
	 */
	public Attempt(String owner, String key, boolean nested) {
		this.owner = owner;
		this.key = key;
		this.nested = nested;
	}

	/**
	 * Record a step. Of several steps of the same kind, the last one counts.
	 * @return this attempt
	 */
	public Attempt note(Step step, long time) {
		this.times.put(step, time);
		return this;
	}

	/**
	 * Record that the lock was granted.
	 * @param token the fencing token, or 0 if there are none
	 * @return this attempt
	 */
	public Attempt granted(long time, long token) {
		this.token = token;
		return note(Step.GRANTED, time);
	}

	public String owner() {
		return this.owner;
	}

	public String process() {
		return this.owner.substring(0, this.owner.indexOf('-'));
	}

	public String key() {
		return this.key;
	}

	public boolean isNested() {
		return this.nested;
	}

	public long token() {
		return this.token;
	}

	public boolean has(Step step) {
		return this.times.containsKey(step);
	}

	/**
	 * Return the time of a step, or {@link #NEVER}.
	 */
	public long at(Step step) {
		Long time = this.times.get(step);
		return (time != null) ? time : NEVER;
	}

	/**
	 * Return the last moment at which the holder was sure to hold the lock.
	 */
	public long heldUntil() {
		Long held = this.times.get(Step.HELD);
		return (held != null) ? Math.max(held, at(Step.GRANTED)) : at(Step.GRANTED);
	}

	/**
	 * Return whether the holder released the lock without having lost it.
	 */
	public boolean isReleased() {
		return has(Step.GAVE) && !has(Step.LOST);
	}

	@Override
	public String toString() {
		return this.owner + " " + this.key + " token " + this.token + " " + this.times;
	}

}
