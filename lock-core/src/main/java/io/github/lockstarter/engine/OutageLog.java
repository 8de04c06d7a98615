// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.store.LockStore;

/**
 * Logs one warning when a store cannot be asked, and one line when it answers again,
 * whatever the number of requests, locks and servers. An outage lasts until no request
 * has failed for a while: only then all holders know whether they have lost their locks.
 */
final class OutageLog {

	private static final Log logger = LogFactory.getLog(OutageLog.class);

	private static final int MOST_NAMES = 10;

	private final String name;

	private final LockStore store;

	private final Timetable timetable;

	private final long quiet;

	/** Changed under the monitor of this object. */
	private volatile @Nullable Outage outage;

	/**
	 * Create a log.
	 * @param name the name of the store
	 * @param store the store, for its address
	 * @param quiet how long no request may fail until an outage is over
	 */
	OutageLog(String name, LockStore store, Timetable timetable, Duration quiet) {
		this.name = name;
		this.store = store;
		this.timetable = timetable;
		this.quiet = quiet.toNanos();
	}

	/**
	 * Note that a request has failed.
	 * @param key a lock for which the store was asked, or {@code null} if it could not be
	 * connected to
	 */
	void failed(@Nullable LockKey key, Throwable cause) {
		synchronized (this) {
			Outage outage = this.outage;
			if (outage != null) {
				outage.answeredAt = null;
				outage.failedAt = this.timetable.now();
				return;
			}
			this.outage = new Outage(this.timetable.now());
		}
		logger.warn(subject() + " cannot be asked: " + FailureReason.of(cause)
				+ ((key != null) ? " (first noticed for lock '" + key + "')" : "")
				+ ". The next line is logged when it answers again");
	}

	/**
	 * Note that the store has answered a request.
	 */
	void answered() {
		if (this.outage != null) {
			firstAnswer();
		}
	}

	private synchronized void firstAnswer() {
		Outage outage = this.outage;
		if (outage != null && outage.answeredAt == null) {
			outage.answeredAt = this.timetable.now();
			if (!outage.watched) {
				outage.watched = true;
				watch(outage, outage.answeredAt);
			}
		}
	}

	/**
	 * Note that a lock was lost.
	 * @return whether that belongs to an outage, whose end tells it
	 */
	boolean lost(LockKey key) {
		return this.outage != null && lostNow(key);
	}

	private synchronized boolean lostNow(LockKey key) {
		Outage outage = this.outage;
		if (outage != null && outage.lost++ < MOST_NAMES) {
			outage.names.add(key);
		}
		return outage != null;
	}

	private void watch(Outage outage, long answeredAt) {
		this.timetable.at(answeredAt + this.quiet, () -> look(outage, answeredAt));
	}

	private void look(Outage outage, long answeredAt) {
		synchronized (this) {
			Long since = outage.answeredAt;
			if (since == null) {
				outage.watched = false;
				return;
			}
			if (since != answeredAt) {
				watch(outage, since);
				return;
			}
			this.outage = null;
		}
		// Nobody may have asked it between its last failure and this answer
		String end = subject() + " answers again, " + TimeUnit.NANOSECONDS.toMillis(answeredAt - outage.since)
				+ " ms after the first failed request and "
				+ TimeUnit.NANOSECONDS.toMillis(answeredAt - outage.failedAt) + " ms after the last one; ";
		if (outage.lost == 0) {
			logger.info(end + "no lock was lost");
		}
		else {
			logger.warn(end + ((outage.lost == 1) ? "1 lock was" : outage.lost + " locks were") + " lost: "
					+ outage.names + ((outage.lost > MOST_NAMES) ? " and others" : ""));
		}
	}

	/**
	 * Return the address of the store, or an empty text.
	 */
	String address() {
		try {
			return Objects.requireNonNull(this.store.address());
		}
		catch (Throwable ex) {
			logger.debug("The address of the store is not known", ex);
			return "";
		}
	}

	private String subject() {
		String address = address();
		return "The store '" + this.name + "'" + (address.isEmpty() ? "" : " at " + address);
	}

	/**
	 * A time in which the store cannot be asked. Guarded by the monitor of the log.
	 */
	private static final class Outage {

		private final long since;

		private long failedAt;

		private int lost;

		/** Of the first locks that were lost. */
		private final List<LockKey> names = new ArrayList<>();

		/** When the first request since the last failure was answered. */
		private @Nullable Long answeredAt;

		private boolean watched;

		Outage(long since) {
			this.since = since;
			this.failedAt = since;
		}

	}

}
