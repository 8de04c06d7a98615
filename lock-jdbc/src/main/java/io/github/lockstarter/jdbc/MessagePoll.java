// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.github.lockstarter.LockKey;

/**
 * Reads from the rows what a message would say, with one query for all locks that this
 * JVM waits for.
 */
final class MessagePoll {

	private static final int BATCH = 256;

	private final LockDatabase database;

	private final JvmId jvm;

	private final WaitedLocks waited;

	MessagePoll(LockDatabase database, JvmId jvm, WaitedLocks waited) {
		this.database = database;
		this.jvm = jvm;
		this.waited = waited;
	}

	/**
	 * Return the locks for which it became the turn of this JVM since the last call, the
	 * earliest first.
	 */
	List<LockKey> next() {
		List<String> rowKeys = this.waited.rows();
		List<Told> told = new ArrayList<>();
		for (int from = 0; from < rowKeys.size(); from += BATCH) {
			told.addAll(read(rowKeys.subList(from, Math.min(from + BATCH, rowKeys.size()))));
		}
		told.sort(Comparator.comparingLong(Told::at));
		List<LockKey> locks = new ArrayList<>();
		for (Told each : told) {
			// A request of this JVM may have passed the same message on since
			LockKey lock = this.waited.see(each.rowKey(), each.at());
			if (lock != null) {
				locks.add(lock);
			}
		}
		return locks;
	}

	/**
	 * Ask for nothing, to see whether the database answers.
	 */
	void check() {
		read(List.of(""));
	}

	/**
	 * Read when this JVM was told last.
	 */
	private List<Told> read(List<String> rowKeys) {
		List<String> parameters = SqlSession.repeated(rowKeys);
		return this.database
			.autocommit((session, sql) -> session.all(sql.selectLines(parameters.size()),
					(row) -> new Told(row.getString(1),
							LineEntry.toldAt(LineEntry.readAll(row.getString(2)), this.jvm.get())),
					parameters.toArray()));
	}

	private record Told(String rowKey, long at) {
	}

}
