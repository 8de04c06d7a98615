// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import org.jspecify.annotations.Nullable;

/**
 * Makes a listening lock ask the store again if no message comes. An alarm that is over
 * has no effect.
 */
final class Alarm {

	private volatile boolean over;

	private volatile Timetable.@Nullable Entry entry;

	/**
	 * End the alarm. Called under the guard of the lock.
	 */
	void end() {
		this.over = true;
	}

	boolean isOver() {
		return this.over;
	}

	void setEntry(Timetable.Entry entry) {
		this.entry = entry;
	}

	/**
	 * Return the entry in the timetable, or {@code null} if there is none yet.
	 */
	Timetable.@Nullable Entry entry() {
		return this.entry;
	}

}
