// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Runs short timed actions one after another. Entering and cancelling are cheap, and wake
 * the thread only for an action that is due before all others. A scheduled executor would
 * be woken by every uncontended acquisition.
 */
final class Timetable implements Time.Schedule, AutoCloseable {

	private static final Log logger = LogFactory.getLog(Timetable.class);

	private static final long IDLE_NANOS = Long.MAX_VALUE / 4;

	private static final AtomicLong NUMBERS = new AtomicLong();

	private final ConcurrentSkipListMap<Entry, Boolean> entries = new ConcurrentSkipListMap<>(Entry.IN_ORDER);

	private final Time time;

	private volatile @Nullable Thread thread;

	private volatile long wakeAt;

	private volatile boolean closed;

	/**
	 * Create a timetable that is not started yet.
	 */
	Timetable(Time time) {
		this.time = time;
		this.wakeAt = time.now() + IDLE_NANOS;
	}

	void start() {
		this.thread = this.time.start(this);
	}

	Time time() {
		return this.time;
	}

	long now() {
		return this.time.now();
	}

	/**
	 * Enter an action.
	 * @param due when to run it, on the clock of this timetable
	 * @param action the action; it must not block
	 * @return the entry, to cancel the action
	 */
	Entry at(long due, Runnable action) {
		Entry entry = new Entry(due, action);
		enter(entry);
		return entry;
	}

	/**
	 * Enter an action. It may run, or be cancelled, before this method returns.
	 */
	void enter(Entry entry) {
		this.entries.put(entry, Boolean.TRUE);
		if (entry.isOver()) {
			this.entries.remove(entry);
		}
		else if (entry.due - this.wakeAt < 0) {
			wake();
		}
	}

	void cancel(Entry entry) {
		if (entry.end()) {
			this.entries.remove(entry);
		}
	}

	int size() {
		return this.entries.size();
	}

	@Override
	public void runDue() {
		long now = now();
		Map.Entry<Entry, Boolean> first = this.entries.firstEntry();
		while (first != null && first.getKey().due - now <= 0) {
			Entry entry = first.getKey();
			if (entry.end()) {
				runSafely(entry);
			}
			this.entries.remove(entry);
			first = this.entries.firstEntry();
		}
	}

	@Override
	public long nextDue() {
		long due = firstDue();
		this.wakeAt = due;
		// An entry that was added before wakeAt was set has woken nobody. Never a later
		// time than wakeAt: entries that are due after it wake nobody
		long next = firstDue();
		return (next - due < 0) ? next : due;
	}

	private long firstDue() {
		Map.Entry<Entry, Boolean> first = this.entries.firstEntry();
		return (first != null) ? first.getKey().due : now() + IDLE_NANOS;
	}

	private static void runSafely(Entry entry) {
		try {
			entry.action.run();
		}
		catch (OutOfMemoryError ex) {
			// It is still entered, and is run again
			entry.over.set(false);
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			logger.error("A timed action failed", ex);
		}
	}

	private void wake() {
		Thread thread = this.thread;
		if (thread != null) {
			this.time.unpark(thread);
		}
	}

	@Override
	public boolean isClosed() {
		return this.closed;
	}

	@Override
	public void close() {
		this.closed = true;
		wake();
	}

	/**
	 * An action and its time. It is run once, or cancelled. One that finds no memory is
	 * run again, from its beginning.
	 */
	static final class Entry {

		/** Times on this clock may only be subtracted: they overflow. */
		private static final Comparator<Entry> IN_ORDER = (a, b) -> {
			int order = Long.signum(a.due - b.due);
			return (order != 0) ? order : Long.compare(a.number, b.number);
		};

		private final long due;

		private final long number = NUMBERS.incrementAndGet();

		private final Runnable action;

		private final AtomicBoolean over = new AtomicBoolean();

		/**
		 * Create an entry that is not in a timetable yet.
		 * @param due when to run the action, on the clock of the timetable
		 */
		Entry(long due, Runnable action) {
			this.due = due;
			this.action = action;
		}

		long due() {
			return this.due;
		}

		private boolean isOver() {
			return this.over.get();
		}

		private boolean end() {
			return this.over.compareAndSet(false, true);
		}

	}

}
