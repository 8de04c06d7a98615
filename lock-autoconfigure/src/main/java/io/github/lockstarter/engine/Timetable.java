// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.Iterator;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Short actions that are due at a time, run one after another by one thread. Entering and
 * cancelling are cheap and wake that thread only for what is due before all else; a
 * scheduled executor would be woken by every uncontended acquisition.
 */
final class Timetable implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(Timetable.class);

	private static final long IDLE_NANOS = Long.MAX_VALUE / 4;

	private final ConcurrentSkipListSet<Entry> entries = new ConcurrentSkipListSet<>();

	private final AtomicLong sequence = new AtomicLong();

	private final LongSupplier nanoTime;

	private final Thread thread;

	private volatile long wakeAt;

	private volatile boolean closed;

	/**
	 * Create a timetable whose thread still has to be started.
	 * @param nanoTime the clock, in nanoseconds from any origin
	 */
	Timetable(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.wakeAt = nanoTime.getAsLong() + IDLE_NANOS;
		this.thread = new Thread(this::run, "lock-watchdog");
		this.thread.setDaemon(true);
	}

	void start() {
		this.thread.start();
	}

	long now() {
		return this.nanoTime.getAsLong();
	}

	/**
	 * Enter an action.
	 * @param due when to run it, on the clock of this timetable
	 * @param action what to run; it must not block
	 * @return the entry, to cancel it
	 */
	Entry at(long due, Runnable action) {
		Entry entry = new Entry(due, this.sequence.incrementAndGet(), action);
		this.entries.add(entry);
		if (due - this.wakeAt < 0) {
			LockSupport.unpark(this.thread);
		}
		return entry;
	}

	void cancel(Entry entry) {
		this.entries.remove(entry);
	}

	int size() {
		return this.entries.size();
	}

	/**
	 * Run what is due.
	 * @return when to come back
	 */
	long runDue() {
		long now = now();
		Entry first = first();
		while (first != null && first.due - now <= 0) {
			if (this.entries.remove(first)) {
				runSafely(first.action);
			}
			first = first();
		}
		return (first != null) ? first.due : now + IDLE_NANOS;
	}

	private void run() {
		while (!this.closed) {
			long next = runDue();
			this.wakeAt = next;
			// An entry made before wakeAt was set has not woken this thread
			Entry first = first();
			if (first == null || first.due - next >= 0) {
				LockSupport.parkNanos(this, next - now());
			}
		}
	}

	private @Nullable Entry first() {
		Iterator<Entry> iterator = this.entries.iterator();
		return iterator.hasNext() ? iterator.next() : null;
	}

	private static void runSafely(Runnable action) {
		try {
			action.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("A timed action failed", ex);
		}
	}

	@Override
	public void close() {
		this.closed = true;
		LockSupport.unpark(this.thread);
	}

	/**
	 * An action and its time.
	 */
	record Entry(long due, long sequence, Runnable action) implements Comparable<Entry> {

		@Override
		public int compareTo(Entry other) {
			long difference = this.due - other.due;
			return Long.signum((difference != 0) ? difference : this.sequence - other.sequence);
		}

	}

}
