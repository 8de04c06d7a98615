// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.SQLException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Tests whether messages of PostgreSQL arrive: at first, after each lost connection, and
 * now and then after a test has failed, because the server may only have been slow. Used
 * by one thread.
 */
final class ArrivalTest {

	private static final Log logger = LogFactory.getLog(ArrivalTest.class);

	private final SignalTimes times;

	/** When to test; {@code null} if there are no messages. */
	private @Nullable Long next;

	private boolean told;

	ArrivalTest(SignalTimes times, boolean possible) {
		this.times = times;
		this.next = possible ? (Long) System.nanoTime() : null;
	}

	boolean isDue() {
		Long next = this.next;
		return next != null && System.nanoTime() - next >= 0;
	}

	/**
	 * Return whether messages arrive.
	 * @param messages the connection, or {@code null} if the database has no messages
	 * @param meanwhile called now and then
	 */
	boolean passes(@Nullable PostgresMessages messages, Runnable meanwhile) throws SQLException {
		if (messages == null) {
			this.next = null;
			return false;
		}
		boolean arrived = messages.arrive(this.times.test(), meanwhile);
		if (!arrived) {
			this.next = System.nanoTime() + this.times.untested().toNanos();
			tell();
		}
		this.told = !arrived;
		return arrived;
	}

	private void tell() {
		if (!this.told) {
			logger.info("The database has sent no message within " + this.times.test().toMillis()
					+ " ms, as behind a proxy that pools transactions, so one query polls for all released locks."
					+ " This is tested again each " + this.times.untested().toSeconds()
					+ " s while this instance waits for a lock");
		}
	}

	/**
	 * Note that the database refuses to listen.
	 * @return {@code false} if it did not refuse, but fail
	 */
	boolean isRefused(SQLException ex) {
		String state = ex.getSQLState();
		// Not PostgreSQL itself, but a database with its protocol
		boolean refused = state != null && (state.startsWith("0A") || state.startsWith("42"));
		if (refused) {
			this.next = null;
		}
		return refused;
	}

}
