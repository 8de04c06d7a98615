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

import io.github.lockstarter.faults.history.HistoryWriter;
import io.github.lockstarter.faults.history.HistoryWriter.Scribe;
import io.github.lockstarter.faults.history.Step;
import io.github.lockstarter.faults.worker.LockClient.Held;

/**
 * Takes locks, increments the counters that they protect, and writes down what it sees.
 */
final class WorkerThread {

	private static final long LONGEST_WORK = TimeUnit.MILLISECONDS.toNanos(4);

	/** One of how many holds lasts for longer than its lease. */
	private static final int LONG_HOLDS = 200;

	private final int number;

	private final LockClient client;

	private final Counters counters;

	private final HistoryWriter history;

	private final boolean fenced;

	private final Duration leaseTime;

	WorkerThread(int number, LockClient client, Counters counters, HistoryWriter history, boolean fenced,
			Duration leaseTime) {
		this.number = number;
		this.client = client;
		this.counters = counters;
		this.history = history;
		this.fenced = fenced;
		this.leaseTime = leaseTime;
	}

	/**
	 * Work until it is enough.
	 * @param keys the locks to choose from
	 */
	void run(List<String> keys, Mode mode, AtomicBoolean stopped) throws SQLException {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		while (!stopped.get()) {
			String key = keys.get(random.nextInt(keys.size()));
			Scribe scribe = this.history.begin(this.number, key, false);
			Duration waitTime = Duration.ofMillis(random.nextLong(mode.longestWait().toMillis() + 1));
			Held held = tryLock(scribe, key, waitTime);
			if (held != null) {
				boolean certain = work(scribe, key, held, random);
				unlock(scribe, held, certain);
			}
		}
	}

	private @Nullable Held tryLock(Scribe scribe, String key, Duration waitTime) {
		scribe.note(Step.ASK);
		try {
			Held held = this.client.tryLock(key, waitTime);
			if (held == null) {
				scribe.note(Step.REFUSED);
			}
			else {
				scribe.note(Step.GRANTED, System.nanoTime(), held.token());
			}
			return held;
		}
		catch (InterruptedException | RuntimeException ex) {
			scribe.note(Step.UNKNOWN);
			return null;
		}
	}

	/**
	 * Do what the lock protects.
	 * @return whether the lock was held until the end
	 */
	private boolean work(Scribe scribe, String key, Held held, ThreadLocalRandom random) throws SQLException {
		if (random.nextInt(8) == 0) {
			nest(key);
		}
		if (!confirm(scribe, held)) {
			return false;
		}
		if (this.fenced) {
			incrementGuarded(scribe, key, held.token());
		}
		long plain = this.counters.readPlain(key);
		if (!last(scribe, held, random)) {
			return false;
		}
		this.counters.writePlain(key, plain + 1);
		scribe.note(Step.WROTE_PLAIN);
		return confirm(scribe, held);
	}

	/**
	 * Let a moment pass, or a time in which the lease has to be renewed.
	 */
	private boolean last(Scribe scribe, Held held, ThreadLocalRandom random) {
		long nanos = (random.nextInt(LONG_HOLDS) == 0) ? this.leaseTime.toNanos() * 5 / 4
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
		Held held = tryLock(scribe, key, Duration.ZERO);
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

}
