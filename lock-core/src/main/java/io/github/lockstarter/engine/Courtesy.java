// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * Leaves a lock free now and then for other instances, which poll for it because no
 * message tells them of a release. An instance with enough callers of its own would
 * otherwise ask again at once after each release, and hardly ever be refused.
 *
 * <p>
 * The pause is longer than any interval at which others poll, so one of them gets the
 * lock. An instance that was not refused lately does not know whether others wait, and
 * pauses for a tenth of the time; one that was refused pauses after each slice. Guarded
 * by the lock.
 */
final class Courtesy {

	/** Longer than the longest interval by as much as a request may take. */
	private static final double PAUSE = 1.4;

	private static final int TENTH = 10;

	private final long pause;

	private final long slice;

	/** When the current turn of this instance began; short gaps do not end it. */
	private long since;

	private long freeSince;

	private long refusedAt;

	/** Whether another instance has had the lock since this one released it. */
	private boolean passedOn = true;

	Courtesy(EngineSettings settings, long now) {
		this.pause = (long) (PAUSE * settings.pollIntervalWithoutMessages().toNanos());
		this.slice = settings.timeSlice().toNanos();
		this.freeSince = now;
		this.refusedAt = now - TENTH * this.pause;
	}

	void granted(long now) {
		if (this.passedOn || now - this.freeSince >= this.pause) {
			this.since = now;
		}
		this.passedOn = false;
	}

	void refused(long now) {
		this.refusedAt = now;
		this.passedOn = true;
	}

	void released(long now) {
		this.freeSince = now;
	}

	/**
	 * Return for how long the lock must be left free from now on.
	 */
	long pause(long now) {
		boolean wanted = now - this.refusedAt < TENTH * this.pause;
		long turn = wanted ? this.slice : Math.max(this.slice, TENTH * this.pause);
		return (this.passedOn || this.freeSince - this.since < turn) ? 0 : this.freeSince + this.pause - now;
	}

}
