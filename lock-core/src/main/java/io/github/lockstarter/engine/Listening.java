// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The time in which a lock waits for a message that it may be free, or for an alarm.
 * Guarded by the lock.
 */
final class Listening {

	private final LockKey key;

	private @Nullable Alarm alarm;

	/** A message has come while the lock was not listening. */
	private boolean missed;

	Listening(LockKey key) {
		this.key = key;
	}

	/**
	 * Return whether the lock is listening.
	 */
	boolean isUnderWay() {
		return this.alarm != null;
	}

	boolean awaits(Alarm alarm) {
		return this.alarm == alarm;
	}

	/**
	 * Begin to listen, with an alarm.
	 * @param pause how long to listen at most, in nanoseconds
	 */
	Effect begin(ToLongFunction<Desk> pause) {
		Effect before = end();
		Alarm alarm = new Alarm();
		this.alarm = alarm;
		return before.and((desk) -> desk.listen(this.key, alarm, pause.applyAsLong(desk)));
	}

	/**
	 * Stop listening.
	 */
	Effect end() {
		Alarm alarm = this.alarm;
		if (alarm == null) {
			return Effect.NONE;
		}
		this.alarm = null;
		alarm.end();
		return (desk) -> desk.cancel(alarm);
	}

	/**
	 * Note that a message has come.
	 */
	void setMissed() {
		this.missed = true;
	}

	/**
	 * Return whether a message has come since the last {@link #forget()}.
	 */
	boolean hasMissed() {
		return this.missed;
	}

	/**
	 * Forget the messages that have come until now.
	 */
	void forget() {
		this.missed = false;
	}

}
