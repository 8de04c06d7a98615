// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Place;

/**
 * Gives back in the background what could not be given back at once, so that nothing
 * stays locked because a request or its answer got lost. Each return ends when the lease
 * has ended by itself.
 */
final class Orphans {

	private static final Log logger = LogFactory.getLog(Orphans.class);

	private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(250);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(3);

	private final LockStore store;

	private final Timetable timetable;

	private final StoreLanes lanes;

	private final AtomicInteger pending = new AtomicInteger();

	Orphans(LockStore store, Timetable timetable, StoreLanes lanes) {
		this.store = store;
		this.timetable = timetable;
		this.lanes = lanes;
	}

	/**
	 * Give back a lease whose release failed, until the store has answered.
	 * @param until when the lease has ended by itself
	 */
	void retry(LockKey key, OwnerToken owner, long until) {
		begin(new Return(key, owner, until, false));
	}

	/**
	 * Give back a lease of which it is not known whether it was granted, again and again:
	 * a request that was given up may still be on its way and be carried out later.
	 * @param until when the last such request has lost its effect
	 */
	void orphan(LockKey key, OwnerToken owner, long until) {
		begin(new Return(key, owner, until, true));
	}

	/**
	 * Let a lock stay taken until a time, though its tenure has ended. If the store
	 * cannot be told now, it is told later, before its lease ends.
	 * @return false if it is known that the lock is not owned any more
	 */
	boolean keep(Tenure tenure, long until) {
		// Drivers refuse to wait for an answer on an interrupted thread
		boolean interrupted = Thread.interrupted();
		try {
			return keepNow(tenure, until);
		}
		catch (RuntimeException ex) {
			logger.debug("Lock '" + tenure.key() + "' could not be kept taken yet", ex);
			this.pending.incrementAndGet();
			this.timetable.at(this.timetable.now() + FIRST_PAUSE,
					() -> this.lanes.execute(tenure.key(), () -> keepLater(tenure, until)));
			return true;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private boolean keepNow(Tenure tenure, long until) {
		long rest = Math.max(until - this.timetable.now(), MILLISECOND);
		boolean kept = this.store.keeping()
			.orElseThrow()
			.keep(tenure.key(), tenure.owner(), Duration.ofNanos(rest))
			.toCompletableFuture()
			.join();
		Long uncertainUntil = tenure.uncertainUntil();
		if (uncertainUntil != null) {
			orphan(tenure.key(), tenure.owner(), uncertainUntil);
		}
		return kept;
	}

	private void keepLater(Tenure tenure, long until) {
		try {
			if (!keepNow(tenure, until) && until - this.timetable.now() > 0) {
				logger.warn("Lock '" + tenure.key() + "' did not stay taken for as long as it should");
			}
		}
		catch (RuntimeException ex) {
			long next = this.timetable.now() + FIRST_PAUSE;
			if (next - tenure.deadline() < 0) {
				this.timetable.at(next, () -> this.lanes.execute(tenure.key(), () -> keepLater(tenure, until)));
				return;
			}
			logger.warn("Lock '" + tenure.key() + "' could not be kept taken for as long as it should", ex);
		}
		this.pending.decrementAndGet();
	}

	/**
	 * Return how many are under way.
	 */
	int pending() {
		return this.pending.get();
	}

	private void begin(Return orphan) {
		this.pending.incrementAndGet();
		this.lanes.execute(orphan.key(), () -> attempt(orphan, FIRST_PAUSE));
	}

	private void attempt(Return orphan, long pause) {
		boolean answered = giveBack(orphan);
		long next = this.timetable.now() + pause;
		if ((answered && !orphan.repeated()) || next - orphan.until() >= 0) {
			this.pending.decrementAndGet();
			return;
		}
		this.timetable.at(next,
				() -> this.lanes.execute(orphan.key(), () -> attempt(orphan, Math.min(2 * pause, LONGEST_PAUSE))));
	}

	private boolean giveBack(Return orphan) {
		try {
			this.store.release(orphan.key(), orphan.owner(), Place.NONE).toCompletableFuture().join();
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("Lock '" + orphan.key() + "' could not be given back yet", ex);
			return false;
		}
	}

	private record Return(LockKey key, OwnerToken owner, long until, boolean repeated) {
	}

}
