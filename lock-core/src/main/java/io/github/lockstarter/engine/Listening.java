// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import org.jspecify.annotations.Nullable;

/**
 * A stretch in which a lock waits for a message or an alarm before it asks the store
 * again. What comes after its end counts no more.
 */
final class Listening {

	private volatile boolean over;

	private volatile Timetable.@Nullable Entry alarm;

	/**
	 * End it. Called under the guard of the lock.
	 */
	void end() {
		this.over = true;
	}

	boolean isOver() {
		return this.over;
	}

	void setAlarm(Timetable.Entry alarm) {
		this.alarm = alarm;
	}

	/**
	 * Return what ends it at last, or {@code null} if that is not set yet.
	 */
	Timetable.@Nullable Entry alarm() {
		return this.alarm;
	}

}
