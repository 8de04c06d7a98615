// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.List;
import java.util.Objects;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;

import io.github.lockstarter.FencedLease;

/**
 * The claims of a transaction, as part of that transaction.
 *
 * @param connection the connection of the transaction
 * @param dataSource where the connection comes from
 * @param sql the statements
 */
record FenceStatements(Connection connection, DataSource dataSource, FenceSql sql) {

	/** Tokens grow, so few owners change a claim while another one waits for it. */
	private static final int ATTEMPTS = 5;

	/**
	 * Claim the token of a lease, or only check it for a reader.
	 * @return whether no larger token is claimed
	 */
	boolean claim(FencedLease fenced) throws SQLException {
		String key = Claims.keyOf(fenced.lease());
		long token = fenced.lease().fencingToken();
		if (FenceClaim.isReader(fenced)) {
			return check(key, token);
		}
		return fenced.shared() ? claimShared(key, token) : claim(key, token);
	}

	/**
	 * Claim in transactions of their own, so that readers and parallel transactions of
	 * the same lease need not wait for this one.
	 * @param oldSnapshots whether the snapshot of a transaction is as old as the
	 * beginning of a claim that had to wait: then all claims wait here
	 */
	void claimAhead(List<FencedLease> leases, boolean oldSnapshots) throws SQLException {
		for (FencedLease each : leases) {
			String key = Claims.keyOf(each.lease());
			long token = Claims.tokenAhead(each.lease());
			if (oldSnapshots) {
				boolean waited = false;
				for (int i = 0; !waited && i < ATTEMPTS; i++) {
					waited = claimAhead(key, token) && (!FenceClaim.isReader(each) || awaitWriter(key));
				}
			}
			else if (each.shared() || FenceClaim.isReader(each)) {
				claimAhead(key, token);
			}
		}
	}

	/**
	 * Wait until the transaction of a writer has ended, if one has claimed.
	 * @return {@code false} if it has changed its claim meanwhile, so that another one
	 * may have to be waited for
	 */
	private boolean awaitWriter(String key) throws SQLException {
		return ahead(() -> first(this.sql.selectShared(), key));
	}

	/**
	 * Claim a token. Waits until transactions that have claimed another one have ended.
	 * @return whether no larger token is claimed
	 */
	boolean claim(String key, long token) throws SQLException {
		String claim = this.sql.claim();
		if (claim == null) {
			return claimInSteps(key, token);
		}
		if (this.sql.reportsToken()) {
			return Objects.equals(first(claim, key, token), token);
		}
		int count = change(claim, key, token);
		return this.sql.countsClaims() ? count > 0 : Objects.equals(first(this.sql.selectForUpdate(), key), token);
	}

	private boolean claimInSteps(String key, long token) throws SQLException {
		boolean hidden = false;
		while (change(this.sql.update(), token, key, token) == 0) {
			Long claimed = first(this.sql.selectForUpdate(), key);
			if (claimed != null && claimed > token) {
				return false;
			}
			if (claimed == null && insert(key, token)) {
				return true;
			}
			hidden = requireVisible(claimed, hidden);
		}
		return true;
	}

	/**
	 * Fail if a row exists that the transaction does not see, as its snapshot is older.
	 * @param before whether that was the case before, so that the row was not just
	 * deleted
	 */
	private static boolean requireVisible(@Nullable Long claimed, boolean before) throws SQLException {
		if (claimed == null && before) {
			throw new SQLTransactionRollbackException("The transaction began before another owner's claim", "40001");
		}
		return claimed == null;
	}

	/**
	 * Claim a token for a transaction that runs at the same time as others with that
	 * token. It waits only for those with another one, provided that the token
	 * {@linkplain #claimAhead is claimed} already.
	 * @return whether no larger token is claimed
	 */
	boolean claimShared(String key, long token) throws SQLException {
		Long claimed = first(this.sql.selectShared(), key);
		return (claimed == null || claimed < token) ? claim(key, token) : claimed == token;
	}

	/**
	 * Claim a token in a transaction of its own unless that was done before, so that
	 * those that share the row need not write it and wait for each other.
	 * @param token the token, or {@link Claims#UNCLAIMED} to create the row for readers
	 * @return {@code false} if another transaction was quicker
	 */
	boolean claimAhead(String key, long token) throws SQLException {
		return ahead(() -> {
			Long claimed = first(this.sql.select(), key);
			if (claimed == null) {
				// SERIALIZABLE may lock what is not there, so that two inserts deadlock
				this.connection.commit();
			}
			if (claimed == null && token == Claims.UNCLAIMED) {
				insert(key, token);
			}
			else if (claimed == null || claimed < token) {
				claim(key, token);
			}
		});
	}

	private boolean ahead(Work work) throws SQLException {
		try {
			work.run();
			this.connection.commit();
			return true;
		}
		catch (SQLException ex) {
			if (!Claims.isConflict(ex.getErrorCode(), ex.getSQLState())) {
				throw ex;
			}
			// Another transaction was quicker, and the next statement looks at the row
			this.connection.rollback();
			return false;
		}
	}

	/**
	 * Keep later owners from claiming until the transaction has ended.
	 * @return whether no larger token is claimed
	 */
	boolean check(String key, long token) throws SQLException {
		boolean hidden = false;
		Long claimed = first(this.sql.selectShared(), key);
		while (claimed == null) {
			// There must be a row for a later owner to wait for
			boolean created = insert(key, Claims.UNCLAIMED);
			claimed = first(this.sql.selectShared(), key);
			hidden = !created && requireVisible(claimed, hidden);
		}
		return claimed <= token;
	}

	private boolean insert(String key, long token) throws SQLException {
		try {
			return change(this.sql.insertIfAbsent(), key, token) > 0;
		}
		catch (SQLException ex) {
			if (new SQLExceptionSubclassTranslator().translate("claim", null, ex) instanceof DuplicateKeyException) {
				return false;
			}
			throw ex;
		}
	}

	private int change(String statement, Object... parameters) throws SQLException {
		try (PreparedStatement prepared = prepare(statement, parameters)) {
			return prepared.executeUpdate();
		}
	}

	private @Nullable Long first(String statement, Object... parameters) throws SQLException {
		try (PreparedStatement prepared = prepare(statement, parameters); ResultSet rows = prepared.executeQuery()) {
			return rows.next() ? rows.getLong(1) : null;
		}
	}

	private PreparedStatement prepare(String statement, Object... parameters) throws SQLException {
		PreparedStatement prepared = this.connection.prepareStatement(statement);
		try {
			DataSourceUtils.applyTransactionTimeout(prepared, this.dataSource);
			for (int i = 0; i < parameters.length; i++) {
				prepared.setObject(i + 1, parameters[i]);
			}
			return prepared;
		}
		catch (SQLException | RuntimeException ex) {
			prepared.close();
			throw ex;
		}
	}

	/**
	 * What is committed ahead.
	 */
	private interface Work {

		void run() throws SQLException;

	}

}
