// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.FencedLease;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseContext;
import io.github.lockstarter.transaction.AcquisitionSynchronization;

/**
 * A transaction that claims the tokens of its thread's leases.
 */
final class FencedTransaction implements AcquisitionSynchronization {

	private final TransactionFence fence;

	private final DefaultTransactionStatus status;

	/** By the keys of their rows. */
	private final Map<String, FenceClaim> claims = new HashMap<>(2);

	/** Those that need no claim any more. */
	private final Set<Lease> settled = new HashSet<>(2);

	/** The settled leases of each savepoint. */
	private final Map<Object, Set<Lease>> savepoints = new IdentityHashMap<>(0);

	/** The database of this transaction, if its connections lead to several databases. */
	private @Nullable String database;

	/** After the end, the connection is still bound: a claim on it would never end. */
	private boolean ended;

	FencedTransaction(TransactionFence fence, DefaultTransactionStatus status) {
		this.fence = fence;
		this.status = status;
	}

	boolean isOf(TransactionExecution execution) {
		return this.status == execution;
	}

	boolean isCompleted() {
		return this.status.isCompleted();
	}

	/**
	 * Return whether the connections of two transactions lead to the same database, as
	 * far as it matters to their claims.
	 */
	boolean isBeside(FencedTransaction other) {
		return Objects.equals(this.database, other.database);
	}

	@Nullable FenceClaim claim(String key) {
		return this.claims.get(key);
	}

	/**
	 * Claim the tokens as the first statements of the transaction.
	 */
	void begin(List<FencedLease> leases) {
		claim(leases, this.fence.knowsBegin() && this.status.hasTransaction()
				&& this.status.getTransaction() instanceof JdbcTransactionObjectSupport);
	}

	/**
	 * Claim the tokens of leases that were acquired inside the transaction.
	 */
	@Override
	public void locksAcquired() {
		if (!this.ended && !this.status.isCompleted()) {
			claim(LeaseContext.fenced(this.fence.isByDefault()), false);
		}
	}

	/**
	 * Claim the tokens of leases that were acquired while the transaction was suspended,
	 * or whose claim was lost with a savepoint.
	 */
	@Override
	public void beforeCommit(boolean readOnly) {
		locksAcquired();
	}

	@Override
	public void savepoint(Object savepoint) {
		this.savepoints.put(savepoint, Set.copyOf(this.settled));
	}

	@Override
	public void savepointRollback(Object savepoint) {
		this.settled.retainAll(this.savepoints.getOrDefault(savepoint, Set.of()));
		this.claims.keySet().retainAll(this.settled.stream().map(Claims::keyOf).toList());
	}

	/**
	 * Cover no transaction any more. First of all, because others may begin one then; but
	 * not before the commit, whose flush may begin one as well.
	 */
	@Override
	public void afterCommit() {
		end();
	}

	@Override
	public void afterCompletion(int outcome) {
		end();
	}

	private void end() {
		this.ended = true;
		this.fence.table().open().remove(this.status);
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	/**
	 * Claim tokens.
	 * @param commitsAhead whether nothing is lost if the transaction commits now
	 */
	private void claim(List<FencedLease> leases, boolean commitsAhead) {
		if (!leases.isEmpty() && this.database == null && this.fence.table().isRouted()) {
			onConnection((connection) -> this.database = FenceTable.databaseOf(connection));
		}
		List<FencedLease> unclaimed = unclaimed(leases);
		if (unclaimed.isEmpty()) {
			return;
		}
		onConnection((connection) -> {
			FenceStatements statements = this.fence.table().statements(connection);
			if (commitsAhead) {
				statements.claimAhead(unclaimed, this.fence.table().hasOldSnapshots(connection));
			}
			for (FencedLease each : unclaimed) {
				if (!statements.claim(each)) {
					throw Claims.refusal(each.lease());
				}
				this.claims.put(Claims.keyOf(each.lease()), FenceClaim.of(each));
				this.settled.add(each.lease());
			}
		});
	}

	private void onConnection(Work work) {
		DataSource dataSource = this.fence.table().dataSource();
		TransactionDataSource.requireConnection(dataSource);
		Connection connection = DataSourceUtils.getConnection(dataSource);
		try {
			work.on(connection);
		}
		catch (SQLException ex) {
			throw FenceErrors.toThrow(ex, this.fence.table());
		}
		finally {
			DataSourceUtils.releaseConnection(connection, dataSource);
		}
	}

	private List<FencedLease> unclaimed(List<FencedLease> leases) {
		List<FencedLease> unclaimed = new ArrayList<>(leases.size());
		for (FencedLease each : leases) {
			if (!this.settled.contains(each.lease())) {
				if (isHeldInStore(each.lease()) || isClaimed(each)) {
					this.settled.add(each.lease());
				}
				else {
					unclaimed.add(each);
				}
			}
		}
		return unclaimed;
	}

	private boolean isHeldInStore(Lease lease) {
		// A store may have to know which one of several nested transactions asks
		TransactionSynchronizationManager.bindResource(TransactionExecution.class, this.status);
		try {
			return lease.ensureHeldAtBegin();
		}
		finally {
			TransactionSynchronizationManager.unbindResource(TransactionExecution.class);
		}
	}

	/**
	 * Return whether this transaction or an outer one has claimed. The outer one keeps
	 * later owners waiting until it ends, which is after this one.
	 */
	private boolean isClaimed(FencedLease fenced) {
		String key = Claims.keyOf(fenced.lease());
		List<FenceClaim> claims = this.fence.table().open().claims(key, this);
		if (claims.stream().anyMatch((each) -> each.token() > fenced.lease().fencingToken())) {
			throw Claims.refusal(fenced.lease());
		}
		if (claims.stream().anyMatch((each) -> each.covers(fenced))) {
			return true;
		}
		if (!claims.isEmpty() && !this.claims.containsKey(key)) {
			throw new CannotAcquireLockException("Lock '" + fenced.lease().key()
					+ "' cannot be claimed in this transaction, because the outer transaction, which would wait for"
					+ " this one, was open under an earlier lease of the same lock. Acquire the lock before the outer"
					+ " transaction begins");
		}
		return false;
	}

	/**
	 * What is done on the connection of a transaction.
	 */
	private interface Work {

		void on(Connection connection) throws SQLException;

	}

}
