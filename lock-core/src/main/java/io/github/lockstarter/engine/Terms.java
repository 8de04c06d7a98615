// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.OwnerToken;

/**
 * What all locks of a registry share: the settings and the clock by which they wait, what
 * a lock remembers between two uses, whether the registry is shutting down, and a count
 * of their hand-offs.
 */
final class Terms {

	private static final int MOST_PARKED = 256;

	/** Of these, a release and a new request take a tenth. */
	private static final int ROUND_TRIPS = 20;

	/**
	 * The store counts in milliseconds: at the end of a lease its key may still exist.
	 */
	private static final long EXPIRY_MARGIN = TimeUnit.MILLISECONDS.toNanos(2);

	private final EngineSettings settings;

	private final Time time;

	/** Of locks that are idle, for one caller that acquires a lock again and again. */
	private final Map<LockKey, Courtesy> parked = new ConcurrentHashMap<>();

	/** How often a lock was passed to the next waiter without asking the store. */
	private final LongAdder handOffs = new LongAdder();

	/** A lost update does no harm: the next grant makes another one. */
	private volatile long roundTrip;

	private volatile boolean refusing;

	Terms(EngineSettings settings, Time time) {
		this.settings = settings;
		this.time = time;
		this.roundTrip = shortestRoundTrip();
	}

	/**
	 * Refuse new waiters, or accept them again.
	 */
	void setRefusing(boolean refusing) {
		this.refusing = refusing;
	}

	boolean isRefusing() {
		return this.refusing;
	}

	/**
	 * Return the name of this instance.
	 */
	String instance() {
		return this.settings.instanceName();
	}

	/**
	 * Return a new token for an owner in this instance.
	 */
	OwnerToken newToken(LockMode mode) {
		return new OwnerToken(instance() + '.' + this.time.randomId(), mode);
	}

	/**
	 * Return the lease time for an owner without a fixed one.
	 */
	Duration leaseTime() {
		return this.settings.leaseTime();
	}

	/**
	 * Return how long waiters tolerate a store that does not answer, in nanoseconds.
	 */
	long outageTime() {
		return this.settings.outageTime().toNanos();
	}

	/**
	 * Return for how long a lock may be handed on, in nanoseconds: for a time slice, or
	 * for 20 round trips to a store that is far away, because a release and a new request
	 * would cost too much of the time. A single answer that is late, such as that of a
	 * paused store, doubles it at most.
	 * @param grant how long the grant took
	 */
	long slice(long grant) {
		this.roundTrip = Math.max(shortestRoundTrip(), Math.min(grant, 2 * this.roundTrip));
		return ROUND_TRIPS * this.roundTrip;
	}

	private long shortestRoundTrip() {
		return this.settings.timeSlice().toNanos() / ROUND_TRIPS;
	}

	/**
	 * Return the pause after a refused request, in nanoseconds.
	 * @param remaining how long the lease of the other owner lasts, or {@code null} if
	 * that is not known
	 * @param inLine whether a message may come earlier
	 * @param refusals how many requests in a row were refused
	 */
	long pause(@Nullable Duration remaining, boolean inLine, int refusals) {
		long poll = jittered(inLine ? this.settings.pollInterval().toNanos()
				: this.settings.pollIntervalWithoutMessages().toNanos() / haste(refusals));
		return (remaining != null) ? Math.min(poll, remaining.toNanos() + EXPIRY_MARGIN) : poll;
	}

	/**
	 * Return how many times as often as usual to ask for a lock that other instances seem
	 * to have got meanwhile. An instance that waits longer asks more often than those
	 * that come later, unless one of them holds the lock for long.
	 */
	private static int haste(int refusals) {
		if (refusals <= 5 || refusals >= 100) {
			return 1;
		}
		return (refusals <= 15) ? 3 : 9;
	}

	/**
	 * Return about as many nanoseconds, so that the pauses of instances differ.
	 */
	long jittered(long nanos) {
		return nanos - nanos / 5 + this.time.random(2 * nanos / 5 + 1);
	}

	Courtesy newCourtesy() {
		return new Courtesy(this.settings, now());
	}

	void park(LockKey key, Courtesy courtesy) {
		if (this.parked.size() >= MOST_PARKED) {
			this.parked.clear();
		}
		this.parked.put(key, courtesy);
	}

	@Nullable Courtesy unpark(LockKey key) {
		return this.parked.remove(key);
	}

	void handedOff() {
		this.handOffs.increment();
	}

	long handOffs() {
		return this.handOffs.sum();
	}

	Time time() {
		return this.time;
	}

	long now() {
		return this.time.now();
	}

}
