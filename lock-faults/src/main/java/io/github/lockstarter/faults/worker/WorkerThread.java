// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockLostException;
import io.github.lockstarter.faults.history.HistoryWriter;
import io.github.lockstarter.faults.history.HistoryWriter.Scribe;
import io.github.lockstarter.faults.history.Step;
import io.github.lockstarter.faults.worker.LockClient.Held;
import io.github.lockstarter.faults.worker.LockClient.Way;
import io.github.lockstarter.faults.worker.Transactions.Moment;

/**
 * Acquires locks, increments the counters that they protect, and records its
 * observations.
 */
final class WorkerThread {

	private static final long LONGEST_WORK = TimeUnit.MILLISECONDS.toNanos(4);

	private final int number;

	private final LockClient client;

	private final Counters counters;

	private final Transactions transactions;

	private final HistoryWriter history;

	private final Competitor competitor;

	private final Duration leaseTime;

	private final Mode mode;

	private final Patience patience;

	private volatile @Nullable Thread thread;

	private volatile @Nullable Scribe waiting;

	private volatile long due;

	WorkerThread(int number, LockClient client, Counters counters, Transactions transactions, HistoryWriter history,
			Competitor competitor, Duration leaseTime, Mode mode, Patience patience) {
		this.number = number;
		this.client = client;
		this.counters = counters;
		this.transactions = transactions;
		this.history = history;
		this.competitor = competitor;
		this.leaseTime = leaseTime;
		this.mode = mode;
		this.patience = patience;
	}

	/**
	 * Work until it is stopped.
	 * @param keys the locks to choose from
	 */
	void run(List<String> keys, AtomicBoolean stopped) throws SQLException {
		this.thread = Thread.currentThread();
		ThreadLocalRandom random = ThreadLocalRandom.current();
		while (!stopped.get()) {
			String key = keys.get(random.nextInt(keys.size()));
			Scribe scribe = this.history.begin(this.number, key, false);
			Held held = tryLock(scribe, key, this.patience.next(), this.mode.way(random));
			if (held != null) {
				boolean certain = work(scribe, key, held, random);
				unlock(scribe, held, certain);
			}
			else if (this.mode == Mode.HASTY) {
				LockSupport.parkNanos(LONGEST_WORK);
			}
		}
	}

	/**
	 * Interrupt the thread. If it waits, it must stop waiting.
	 */
	void interrupt() {
		Scribe scribe = this.waiting;
		Thread thread = this.thread;
		if (!this.patience.mayBeInterrupted(this.due - System.nanoTime())) {
			return;
		}
		if (scribe != null && System.nanoTime() - this.due < 0) {
			this.due = System.nanoTime();
			scribe.note(Step.DUE);
		}
		if (thread != null) {
			thread.interrupt();
		}
	}

	private @Nullable Held tryLock(Scribe scribe, String key, Duration waitTime, Way way) {
		long now = System.nanoTime();
		this.due = now + waitTime.toNanos();
		scribe.note(Step.ASK, now, 0);
		scribe.note(Step.DUE, this.due, 0);
		this.waiting = scribe;
		try {
			Held held = this.client.tryLock(key, waitTime, way);
			if (held == null) {
				scribe.note(Step.REFUSED);
			}
			else {
				scribe.note(Step.GRANTED, System.nanoTime(), held.token());
			}
			return held;
		}
		catch (InterruptedException ex) {
			scribe.note(Step.UNKNOWN);
			return null;
		}
		catch (RuntimeException ex) {
			scribe.note(Step.UNKNOWN);
			System.err.println("An attempt failed: " + ex);
			return null;
		}
		finally {
			this.waiting = null;
		}
	}

	/**
	 * Do the work that the lock protects.
	 * @return whether the lock was held until the end
	 */
	private boolean work(Scribe scribe, String key, Held held, ThreadLocalRandom random) throws SQLException {
		if (held.isOfThread() && random.nextInt(8) == 0) {
			nest(key);
		}
		if (!confirm(scribe, held)) {
			return false;
		}
		if (this.competitor.isFenced()) {
			incrementGuarded(scribe, key, held.token());
		}
		long plain = this.counters.readPlain(key);
		if (!(held.isOfThread() ? transact(scribe, key, held, random) : last(scribe, held, random))) {
			return false;
		}
		this.counters.writePlain(key, plain + 1);
		scribe.note(Step.WROTE_PLAIN);
		return confirm(scribe, held);
	}

	/**
	 * Increment the account of a key in a transaction, and hold the lock for a while at
	 * one moment of it. Locks of this project end a transaction without being asked;
	 * others need the help of their holder, as far as it can know of a loss.
	 * @return whether the lock was held until the end
	 */
	private boolean transact(Scribe scribe, String key, Held held, ThreadLocalRandom random) {
		Moment chosen = Moment.values()[random.nextInt(Moment.values().length)];
		try {
			this.transactions.increment(key, scribe.owner(), held.token(), (moment) -> {
				if (moment == chosen && !last(scribe, held, random) && !this.competitor.isOurs()) {
					throw new LostException();
				}
			});
		}
		catch (LockLostException | LostException ex) {
			scribe.note(Step.TRANSACTION_REFUSED);
		}
		catch (RuntimeException ex) {
			scribe.note(Step.TRANSACTION_FAILED);
			System.err.println("A transaction failed: " + ex);
		}
		return confirm(scribe, held);
	}

	/**
	 * Hold the lock for a moment, or long enough for its lease to need renewal.
	 */
	private boolean last(Scribe scribe, Held held, ThreadLocalRandom random) {
		long nanos = (random.nextInt(this.mode.longHolds()) == 0) ? this.leaseTime.toNanos() * 5 / 4
				: random.nextLong(LONGEST_WORK);
		long start = System.nanoTime();
		boolean interrupted = false;
		boolean sure;
		do {
			// An interrupted thread would not wait
			interrupted |= Thread.interrupted();
			LockSupport.parkNanos(Math.min(nanos, LONGEST_WORK));
			sure = confirm(scribe, held);
		}
		while (sure && System.nanoTime() - start < nanos);
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
		return sure;
	}

	private void nest(String key) {
		Scribe scribe = this.history.begin(this.number, key, true);
		Held held = tryLock(scribe, key, Duration.ZERO, Way.THREAD);
		if (held != null) {
			unlock(scribe, held, confirm(scribe, held));
		}
	}

	private void incrementGuarded(Scribe scribe, String key, long token) throws SQLException {
		scribe.note(Step.WRITING);
		boolean written = this.counters.claim(key, token)
				&& this.counters.writeGuarded(key, token, this.counters.readGuarded(key) + 1);
		scribe.note(written ? Step.WROTE : Step.FENCED);
	}

	private static boolean confirm(Scribe scribe, Held held) {
		long now = System.nanoTime();
		boolean sure = held.isHeld();
		scribe.note(sure ? Step.HELD : Step.LOST, now, 0);
		return sure;
	}

	private static void unlock(Scribe scribe, Held held, boolean certain) {
		scribe.note(Step.GIVE);
		try {
			held.unlock();
			scribe.note(Step.GAVE);
		}
		catch (RuntimeException ex) {
			if (certain) {
				scribe.note(Step.LOST);
			}
		}
	}

	/**
	 * The holder knows that it has lost its lock.
	 */
	@SuppressWarnings("serial")
	private static final class LostException extends RuntimeException {

	}

}
