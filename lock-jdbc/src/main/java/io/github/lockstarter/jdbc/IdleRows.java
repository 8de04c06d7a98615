// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

import io.github.lockstarter.store.FailureReason;

/**
 * Deletes rows whose last lease is over for so long that no clock can be wrong by that
 * much. Runs now and then while locks are acquired, on a thread that ends with the work.
 */
final class IdleRows implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(IdleRows.class);

	private static final long FIRST_NANOS = TimeUnit.MINUTES.toNanos(1);

	private static final long LONGEST_INTERVAL_NANOS = TimeUnit.HOURS.toNanos(1);

	/** Read within the limit for a statement, however large the table is. */
	static final int PAGE = 1000;

	/** Before all keys; some databases take an empty text for null. */
	private static final String START = " ";

	private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("lock-cleanup-");

	private final LockDatabase database;

	private final long retentionMicros;

	private final long intervalNanos;

	private final AtomicLong next = new AtomicLong(System.nanoTime() + FIRST_NANOS);

	private volatile String done = START;

	private volatile boolean warned;

	private volatile boolean closed;

	IdleRows(LockDatabase database, Duration retention) {
		this.database = database;
		this.retentionMicros = TimeUnit.MICROSECONDS.convert(retention);
		this.intervalNanos = Math.min(LONGEST_INTERVAL_NANOS, Math.max(FIRST_NANOS, retention.toNanos() / 4));
		this.threads.setDaemon(true);
	}

	/**
	 * Delete idle rows in the background if that was not done for a while.
	 */
	void deleteNowAndThen() {
		long due = this.next.get();
		long now = System.nanoTime();
		// Not again while it is under way
		if (now - due >= 0 && this.next.compareAndSet(due, now + Long.MAX_VALUE / 2)) {
			this.threads.execute(this::tryDelete);
		}
	}

	/**
	 * Delete idle rows. After a failure, the next call continues where this one has
	 * ended.
	 */
	void tryDelete() {
		try {
			delete();
			this.warned = false;
		}
		catch (RuntimeException ex) {
			if (!this.warned && !this.closed) {
				this.warned = true;
				logger.warn("Idle rows of locks could not be deleted, which is tried again: " + FailureReason.of(ex));
			}
		}
		this.next.set(System.nanoTime() + (this.warned ? FIRST_NANOS : this.intervalNanos));
	}

	private void delete() {
		List<Row> page;
		do {
			page = page(this.done);
			// One at a time: a statement for all would lock others in some databases
			page.stream()
				.filter((row) -> row.expiresAt() < row.now() - this.retentionMicros)
				.forEach((row) -> this.database
					.autocommit((session, sql) -> session.update(sql.delete(), row.key(), row.expiresAt())));
			this.done = (page.size() < PAGE) ? START : page.get(PAGE - 1).key();
		}
		while (page.size() == PAGE && !this.closed);
	}

	private List<Row> page(String after) {
		return this.database.autocommit((session, sql) -> session.all(sql.selectPage(PAGE),
				(row) -> new Row(row.getString(1), row.getLong(2), sql.dialect().readClock(row, 3)), after));
	}

	@Override
	public void close() {
		this.closed = true;
	}

	private record Row(String key, long expiresAt, long now) {
	}

}
