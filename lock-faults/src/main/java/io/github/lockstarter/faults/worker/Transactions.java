// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.util.Objects;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The transactions of an application as most of them are written: each reads an account
 * of the {@link Ledger} and writes it back, and neither asks about locks nor passes a
 * fencing token.
 */
final class Transactions implements AutoCloseable {

	private final HikariDataSource pool;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate template;

	private final ThreadLocal<Pause> pause = new ThreadLocal<>();

	/**
	 * Create the transactions.
	 * @param pool the connections, which are closed with this
	 * @param guards adds to the transaction manager what protects transactions
	 */
	Transactions(HikariDataSource pool, TransactionGuards guards) {
		this.pool = pool;
		this.jdbc = new JdbcTemplate(pool);
		JdbcTransactionManager manager = new JdbcTransactionManager(pool);
		guards.addTo(manager, pool);
		// The last one, because after all checks only the database can refuse a late
		// owner
		manager.addListener(new CommitPause());
		this.template = new TransactionTemplate(manager);
	}

	/**
	 * Increment an account in a transaction.
	 * @param owner the thread, for the booking
	 * @param token the fencing token of its lock, for the booking as well
	 * @param pause called at each moment
	 */
	void increment(String key, String owner, long token, Pause pause) {
		pause.at(Moment.BEFORE_BEGIN);
		this.pause.set(pause);
		try {
			this.template.executeWithoutResult((status) -> {
				long amount = Objects.requireNonNull(
						this.jdbc.queryForObject("select amount from account where id = ?", Long.class, key));
				pause.at(Moment.BEFORE_WRITE);
				this.jdbc.update("update account set amount = ? where id = ?", amount + 1, key);
				this.jdbc.update("insert into booking (account, amount, owner, token) values (?, ?, ?, ?)", key, amount,
						owner, token);
			});
		}
		finally {
			this.pause.remove();
		}
	}

	@Override
	public void close() {
		this.pool.close();
	}

	/**
	 * A moment at which a pause may hit a transaction.
	 */
	enum Moment {

		/** The thread has been granted its lock. */
		BEFORE_BEGIN,

		/** The transaction has read. */
		BEFORE_WRITE,

		/** The transaction has written, and all checks of its locks are done. */
		BEFORE_COMMIT

	}

	/**
	 * What happens at a moment.
	 */
	interface Pause {

		void at(Moment moment);

	}

	private final class CommitPause implements TransactionExecutionListener {

		@Override
		public void beforeCommit(TransactionExecution transaction) {
			Transactions.this.pause.get().at(Moment.BEFORE_COMMIT);
		}

	}

}
