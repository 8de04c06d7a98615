// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.sql.Connection;
import java.sql.SQLException;
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
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseContext;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.transaction.AcquisitionSynchronization;

/**
 * A transaction that claims the tokens of its thread's leases.
 */
final class FencedTransaction implements AcquisitionSynchronization {

	private final TransactionFence fence;

	private final DefaultTransactionStatus status;

	/** The tokens that were claimed, by the keys of their rows. */
	private final Map<String, Long> claims = new HashMap<>(2);

	/** Those that their store keeps in this database, and checks at the commit. */
	private final Set<Lease> heldInStore = new HashSet<>(0);

	/** The claims before each savepoint. */
	private final Map<Object, Map<String, Long>> savepoints = new IdentityHashMap<>(0);

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

	@Nullable Long claim(String key) {
		return this.claims.get(key);
	}

	/**
	 * Claim the tokens as the first statements of the transaction.
	 */
	void begin(List<Lease> leases) {
		claim(leases);
	}

	/**
	 * Claim the tokens of leases that were acquired inside the transaction.
	 */
	@Override
	public void locksAcquired() {
		if (!this.ended && !this.status.isCompleted()) {
			claim(LeaseContext.fenced(this.fence.isByDefault()));
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
		this.savepoints.put(savepoint, Map.copyOf(this.claims));
	}

	@Override
	public void savepointRollback(Object savepoint) {
		this.claims.clear();
		this.claims.putAll(this.savepoints.getOrDefault(savepoint, Map.of()));
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

	private void claim(List<Lease> leases) {
		if (!leases.isEmpty() && this.database == null && this.fence.table().isRouted()) {
			onConnection((connection) -> this.database = FenceTable.databaseOf(connection));
		}
		List<Lease> unclaimed = leases.stream().filter((lease) -> !isHeldInStore(lease) && !isClaimed(lease)).toList();
		if (unclaimed.isEmpty()) {
			return;
		}
		onConnection((connection) -> {
			FenceStatements statements = this.fence.table().statements(connection);
			for (Lease lease : unclaimed) {
				if (!statements.claim(Claims.keyOf(lease), lease.fencingToken())) {
					throw Claims.refusal(lease);
				}
				this.claims.put(Claims.keyOf(lease), lease.fencingToken());
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

	private boolean isHeldInStore(Lease lease) {
		if (this.heldInStore.contains(lease)) {
			return true;
		}
		// A store may have to know which one of several nested transactions asks
		TransactionSynchronizationManager.bindResource(TransactionExecution.class, this.status);
		try {
			return lease.ensureHeldAtBegin() && this.heldInStore.add(lease);
		}
		finally {
			TransactionSynchronizationManager.unbindResource(TransactionExecution.class);
		}
	}

	/**
	 * Return whether this transaction or an outer one has claimed. The outer one keeps
	 * later owners waiting until it ends, which is after this one.
	 */
	private boolean isClaimed(Lease lease) {
		String key = Claims.keyOf(lease);
		List<Long> claimed = this.fence.table().open().claims(key, this);
		if (claimed.stream().anyMatch((token) -> token > lease.fencingToken())) {
			throw Claims.refusal(lease);
		}
		if (claimed.isEmpty() && lease.mode() == LockMode.READ) {
			String remedy = "make the transaction read-only, as with @Transactional(readOnly = true), acquire the lock in"
					+ " mode WRITE, or say transactionFencing = OFF where it is acquired and "
					+ FencingNotPossibleException.BY_HAND;
			throw new FencingNotPossibleException("The transaction under lock '" + lease.key()
					+ "' cannot be fenced, because readers (mode READ) claim nothing; " + remedy, remedy);
		}
		return !claimed.isEmpty();
	}

	/**
	 * What is done on the connection of a transaction.
	 */
	private interface Work {

		void on(Connection connection) throws SQLException;

	}

}
