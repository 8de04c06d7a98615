// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.RowKey;
import io.github.lockstarter.transaction.LeasesOfThread.Fenced;

/**
 * Lets each transaction that runs under a lock claim the lock's
 * {@linkplain io.github.lockstarter.Lease#fencingToken() fencing token} in its own
 * database, before it reads anything. A later owner waits until the transaction has
 * ended, and a transaction is refused if a later owner has claimed before it, whatever
 * happens to leases and clocks.
 *
 * <p>
 * A refused transaction is rolled back before its body begins, and the caller gets a
 * {@link LockLostException}. Transactions that only read claim nothing, and nested ones
 * are covered by the outer one. A lock that is acquired inside a transaction is claimed
 * at its acquisition. A reader ({@link io.github.lockstarter.LockMode#READ}) cannot
 * claim, so its transaction may only read.
 *
 * <p>
 * The idea is that of the fencing tokens in Martin Kleppmann's <a href=
 * "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">How to do
 * distributed locking</a>, with the database as the resource that remembers the largest
 * token.
 */
public final class TransactionFence implements TransactionExecutionListener {

	/**
	 * The claims of the current thread's open transactions, whichever manager began them.
	 * To wait for one of them would be to wait for itself.
	 */
	private static final ThreadLocal<List<Claims>> open = ThreadLocal.withInitial(() -> new ArrayList<>(2));

	private final AbstractPlatformTransactionManager manager;

	private final FenceTable table;

	private final Predicate<String> byDefault;

	/**
	 * Create a fence for all transactions under locks, except where
	 * {@link io.github.lockstarter.TransactionFencing#OFF} says otherwise.
	 * @param manager the manager to add this listener to
	 * @param table the table in the database of the manager's transactions
	 */
	public TransactionFence(AbstractPlatformTransactionManager manager, FenceTable table) {
		this(manager, table, (registry) -> true);
	}

	/**
	 * Create a fence.
	 * @param manager the manager to add this listener to
	 * @param table the table in the database of the manager's transactions
	 * @param byDefault whether transactions claim the tokens of a registry's leases where
	 * neither an annotation nor a template says so
	 */
	TransactionFence(AbstractPlatformTransactionManager manager, FenceTable table, Predicate<String> byDefault) {
		this.manager = manager;
		this.table = table;
		this.byDefault = byDefault;
	}

	@Override
	public void afterBegin(TransactionExecution execution, @Nullable Throwable beginFailure) {
		if (beginFailure != null || execution.isReadOnly() || !execution.isNewTransaction()) {
			return;
		}
		DefaultTransactionStatus status = (DefaultTransactionStatus) execution;
		Claims claims = new Claims(status);
		// Spring tells no listener of a commit that failed early
		open.get().removeIf((each) -> each.status.isCompleted());
		open.get().add(claims);
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(claims);
		}
		try {
			claims.locksAcquired();
		}
		catch (Throwable ex) {
			forget(execution);
			rollBack(status, ex);
			claims.tellOfRefusal();
			throw ex;
		}
	}

	/**
	 * Roll back before the body begins. The manager resumes an outer transaction itself
	 * when it gets the exception of a listener, so the status for the rollback has none.
	 */
	private void rollBack(DefaultTransactionStatus status, Throwable refusal) {
		try {
			this.manager.rollback(new DefaultTransactionStatus(status.getTransactionName(), status.getTransaction(),
					true, status.isNewSynchronization(), false, status.isReadOnly(), status.isDebug(), null));
		}
		catch (RuntimeException ex) {
			refusal.addSuppressed(ex);
		}
	}

	@Override
	public void afterCommit(TransactionExecution execution, @Nullable Throwable commitFailure) {
		forget(execution);
	}

	@Override
	public void afterRollback(TransactionExecution execution, @Nullable Throwable rollbackFailure) {
		forget(execution);
	}

	private void forget(TransactionExecution execution) {
		open.get().removeIf((each) -> each.status == execution);
	}

	/**
	 * The claims of a transaction.
	 */
	final class Claims implements AcquisitionSynchronization {

		private final DefaultTransactionStatus status;

		/** The tokens, by the keys of their rows. */
		private final Map<String, Long> tokens = new HashMap<>(2);

		/** The tokens before each savepoint. */
		private final Map<Object, Map<String, Long>> savepoints = new IdentityHashMap<>(0);

		/**
		 * After the end, the connection is still bound: a claim on it would never end.
		 */
		private boolean ended;

		private @Nullable Fenced refused;

		private Claims(DefaultTransactionStatus status) {
			this.status = status;
		}

		/**
		 * Claim the tokens of the thread's leases that are not claimed yet: at the
		 * beginning all of them, and later those that were acquired inside the
		 * transaction.
		 */
		@Override
		public void locksAcquired() {
			if (this.ended || this.status.isCompleted()) {
				return;
			}
			try {
				List<Fenced> unclaimed = new ArrayList<>();
				for (Fenced each : LeasesOfThread.fenced(TransactionFence.this.byDefault)) {
					if (!isClaimed(each)) {
						unclaimed.add(each);
					}
				}
				if (!unclaimed.isEmpty()) {
					claim(unclaimed);
				}
			}
			catch (SQLException ex) {
				throw table().translate(ex);
			}
		}

		private void claim(List<Fenced> leases) throws SQLException {
			FenceTable table = table();
			if (!TransactionSynchronizationManager.hasResource(table.dataSource())) {
				// Any other connection would commit a claim at once
				throw new FencingNotPossibleException(
						"The transaction cannot be fenced, because its manager does not reveal its connection",
						"set the JpaDialect of your vendor on the transaction manager, or name the manager in"
								+ " distributed-lock.fencing.exclude and " + FencingNotPossibleException.BY_HAND);
			}
			Connection connection = DataSourceUtils.getConnection(table.dataSource());
			try {
				for (Fenced each : leases) {
					long token = each.lease().fencingToken();
					if (!table.claim(connection, keyOf(each), token)) {
						throw refusal(each);
					}
					this.tokens.put(keyOf(each), token);
				}
			}
			finally {
				DataSourceUtils.releaseConnection(connection, table.dataSource());
			}
		}

		/**
		 * Return whether this transaction or an outer one has claimed. The outer one
		 * keeps later owners waiting until it ends, which is after this one.
		 */
		private boolean isClaimed(Fenced fenced) throws SQLException {
			Lease lease = fenced.lease();
			boolean claimed = false;
			for (Claims each : open.get()) {
				Long token = each.tokens.get(keyOf(fenced));
				if (token != null && !each.status.isCompleted() && each.table().isSame(table())) {
					if (token > lease.fencingToken()) {
						throw refusal(fenced);
					}
					claimed = true;
				}
			}
			if (!claimed && lease.mode() == LockMode.READ) {
				String remedy = "make the transaction read-only, as with @Transactional(readOnly = true), acquire the"
						+ " lock in mode WRITE, or say transactionFencing = OFF where it is acquired and "
						+ FencingNotPossibleException.BY_HAND;
				throw new FencingNotPossibleException("The transaction under lock '" + lease.key()
						+ "' cannot be fenced, because readers (mode READ) claim nothing", remedy);
			}
			return claimed;
		}

		private FenceTable table() {
			return TransactionFence.this.table;
		}

		private static String keyOf(Fenced fenced) {
			return RowKey.of(fenced.registry().name() + '/', fenced.lease().key());
		}

		private LockLostException refusal(Fenced fenced) {
			this.refused = fenced;
			Lease lease = fenced.lease();
			return new LockLostException(lease.key(), lease.fencingToken(),
					"a later owner has claimed the lock in the database, so this transaction was refused and has"
							+ " written nothing: repeat the call to work with what that owner has written");
		}

		@Override
		public void savepoint(Object savepoint) {
			this.savepoints.put(savepoint, Map.copyOf(this.tokens));
		}

		@Override
		public void savepointRollback(Object savepoint) {
			this.tokens.clear();
			this.tokens.putAll(this.savepoints.getOrDefault(savepoint, Map.of()));
		}

		/**
		 * Claim the tokens of leases that were acquired while the transaction was
		 * suspended, or whose claim was lost with a savepoint.
		 */
		@Override
		public void beforeCommit(boolean readOnly) {
			locksAcquired();
		}

		/**
		 * Cover no transaction any more. First of all, because others may begin one then;
		 * but not before the commit, whose flush may begin one as well.
		 */
		@Override
		public void afterCommit() {
			end();
		}

		@Override
		public void afterCompletion(int outcome) {
			end();
			tellOfRefusal();
		}

		/** Only now, because a listener may use the database as well. */
		private void tellOfRefusal() {
			Fenced refused = this.refused;
			this.refused = null;
			if (refused != null) {
				refused.registry().transactionRefused(refused.lease());
			}
		}

		private void end() {
			this.ended = true;
			forget(this.status);
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

	}

}
