// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Runs short timed actions one after another. Entering and cancelling are cheap, above
 * all where many actions are due at the same time, and wake the thread only for an action
 * that is due before all others. A scheduled executor would be woken by every uncontended
 * acquisition.
 */
final class Timetable implements Time.Schedule, AutoCloseable {

	private static final Log logger = LogFactory.getLog(Timetable.class);

	private static final long IDLE_NANOS = Long.MAX_VALUE / 4;

	private final ConcurrentSkipListMap<Long, Set<Entry>> entries = new ConcurrentSkipListMap<>(
			(a, b) -> Long.signum(a - b));

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
		Set<Entry> sameTime;
		do {
			sameTime = this.entries.computeIfAbsent(entry.due, (due) -> ConcurrentHashMap.newKeySet(1));
			sameTime.add(entry);
		}
		// If the set was removed in the meantime, the entry may have been missed
		while (this.entries.get(entry.due) != sameTime && !entry.isOver());
		if (entry.isOver()) {
			sameTime.remove(entry);
		}
		else if (entry.due - this.wakeAt < 0) {
			wake();
		}
	}

	void cancel(Entry entry) {
		if (!entry.end()) {
			return;
		}
		Set<Entry> sameTime = this.entries.get(entry.due);
		if (sameTime != null && sameTime.remove(entry) && sameTime.isEmpty()) {
			this.entries.computeIfPresent(entry.due, (due, current) -> (current == sameTime) ? null : current);
			sameTime.forEach(this::enter);
		}
	}

	int size() {
		return this.entries.values().stream().mapToInt(Set::size).sum();
	}

	@Override
	public void runDue() {
		long now = now();
		Map.Entry<Long, Set<Entry>> first = this.entries.firstEntry();
		while (first != null && first.getKey() - now <= 0) {
			// Another thread may have replaced the set in the meantime
			Set<Entry> due = this.entries.remove(first.getKey());
			if (due != null) {
				due.stream().filter(Entry::end).forEach(Timetable::runSafely);
			}
			first = this.entries.firstEntry();
		}
	}

	@Override
	public long nextDue() {
		this.wakeAt = firstDue();
		// An entry from before wakeAt was set has not woken the thread
		return firstDue();
	}

	private long firstDue() {
		Map.Entry<Long, Set<Entry>> first = this.entries.firstEntry();
		return (first != null) ? first.getKey() : now() + IDLE_NANOS;
	}

	private static void runSafely(Entry entry) {
		try {
			entry.action.run();
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
	 * An action and its time. It is run once, or cancelled.
	 */
	static final class Entry {

		private final long due;

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
