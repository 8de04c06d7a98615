// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

import io.r2dbc.spi.Connection;
import reactor.core.publisher.Mono;

import org.springframework.dao.DataAccessException;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

import io.github.lockstarter.FencedLease;
import io.github.lockstarter.LeaseChain;
import io.github.lockstarter.LockException;

/**
 * The counterpart of {@link TransactionFence} for reactive transactions: each one that
 * runs under a lock claims the lock's
 * {@linkplain io.github.lockstarter.Lease#fencingToken() fencing token} before it reads
 * anything. The listeners of reactive managers cannot, because they must not block.
 *
 * <p>
 * The locks are those of the reactive chain and of the thread that begins the
 * transaction. A lock that is acquired inside a transaction is not claimed by that
 * transaction. If the lock's store keeps it in the same database, the table is needed all
 * the same.
 */
public class FencedR2dbcTransactionManager extends R2dbcTransactionManager {

	private static final TransactionSynchronization NO_COMMIT = new TransactionSynchronization() {

		@Override
		public Mono<Void> beforeCommit(boolean readOnly) {
			return Mono
				.error(new IllegalStateException("An inner transaction was cancelled while it began, so the outer"
						+ " one cannot commit: Spring has not resumed its callbacks. Cancel both"));
		}

	};

	private final R2dbcFenceTable table;

	private final boolean byDefault;

	/** The connections of outer transactions, by the inner one that suspends them. */
	private final Map<Object, Object> suspended = Collections.synchronizedMap(new WeakHashMap<>());

	/**
	 * Create a manager that fences all transactions under locks, except where
	 * {@link io.github.lockstarter.TransactionFencing#OFF} says otherwise.
	 * @param table the table in the database of the transactions
	 */
	public FencedR2dbcTransactionManager(R2dbcFenceTable table) {
		this(table, true);
	}

	/**
	 * Create a manager.
	 * @param table the table in the database of the transactions
	 * @param byDefault whether transactions claim where neither an annotation nor a
	 * template says so
	 */
	public FencedR2dbcTransactionManager(R2dbcFenceTable table, boolean byDefault) {
		super(table.connectionFactory());
		this.table = table;
		this.byDefault = byDefault;
	}

	R2dbcFenceTable table() {
		return this.table;
	}

	@Override
	protected Mono<Void> doBegin(TransactionSynchronizationManager context, Object transaction,
			TransactionDefinition definition) {
		if (definition.isReadOnly() || isSavepoint(transaction, definition)) {
			return super.doBegin(context, transaction, definition);
		}
		return Mono.deferContextual((chain) -> {
			List<FencedLease> leases = LeaseChain.fenced(chain.getOrDefault(LeaseChain.class, null), this.byDefault);
			return leases.isEmpty() ? super.doBegin(context, transaction, definition)
					: begin(context, transaction, definition, leases);
		});
	}

	private Mono<Void> begin(TransactionSynchronizationManager context, Object transaction,
			TransactionDefinition definition, List<FencedLease> leases) {
		R2dbcClaims claims = R2dbcClaims.of(transaction, this.table, leases, context);
		R2dbcBeginning beginning = new R2dbcBeginning(definition, claims);
		Mono<Void> begin = super.doBegin(context, transaction, beginning).doOnSuccess((nothing) -> claims.open(context))
			.onErrorMap(CannotCreateTransactionException.class, FencedR2dbcTransactionManager::unwrap);
		return beginning.run(begin, () -> {
			R2dbcClaims.forget(transaction, this.table, context);
			resumeOuter(context, transaction);
		});
	}

	@Override
	protected Mono<Object> doSuspend(TransactionSynchronizationManager context, Object transaction) {
		return super.doSuspend(context, transaction)
			.doOnNext((connection) -> this.suspended.put(transaction, connection));
	}

	/**
	 * Give an outer transaction its connection back, so that it is rolled back. Spring
	 * resumes it, with its callbacks, after a failure only.
	 */
	private void resumeOuter(TransactionSynchronizationManager context, Object transaction) {
		Object connection = this.suspended.remove(transaction);
		if (connection == null) {
			return;
		}
		context.unbindResourceIfPossible(this.table.connectionFactory());
		context.bindResource(this.table.connectionFactory(), connection);
		if (!context.isSynchronizationActive()) {
			context.initSynchronization();
			context.registerSynchronization(NO_COMMIT);
			context.setActualTransactionActive(true);
		}
	}

	private boolean isSavepoint(Object transaction, TransactionDefinition definition) {
		return definition.getPropagationBehavior() == TransactionDefinition.PROPAGATION_NESTED
				&& isExistingTransaction(transaction);
	}

	private static Throwable unwrap(CannotCreateTransactionException failure) {
		Throwable cause = failure.getCause();
		return (cause instanceof LockException || cause instanceof DataAccessException) ? cause : failure;
	}

	/**
	 * Called when there is a connection. The result is subscribed when the transaction
	 * has begun, and before it is known to anybody else.
	 */
	@Override
	protected Mono<Void> prepareTransactionalConnection(Connection connection, TransactionDefinition definition) {
		Mono<Void> prepare = super.prepareTransactionalConnection(connection, definition);
		if (!(definition instanceof R2dbcBeginning beginning)) {
			return prepare;
		}
		beginning.connected(connection);
		return prepare.then(Mono.defer(() -> claim(beginning.claims(), connection, definition)))
			.then(beginning.ensureAwaited())
			.onErrorResume((failure) -> beginning.undo(connection).then(Mono.error(failure)));
	}

	private Mono<Void> claim(R2dbcClaims claims, Connection connection, TransactionDefinition definition) {
		Mono<Void> begin = Mono
			.defer(() -> Mono.from(connection.beginTransaction(createTransactionDefinition(definition))))
			.then(Mono.defer(() -> super.prepareTransactionalConnection(connection, definition)));
		Mono<Void> commit = Mono.defer(() -> Mono.from(connection.commitTransaction())).then(begin);
		Mono<Void> rollBack = Mono.defer(() -> Mono.from(connection.rollbackTransaction()).onErrorComplete())
			.then(begin);
		return claims.claimAhead(connection, commit, rollBack).then(Mono.defer(() -> claims.claim(connection)));
	}

	@Override
	protected Mono<Void> doCleanupAfterCompletion(TransactionSynchronizationManager context, Object transaction) {
		return super.doCleanupAfterCompletion(context, transaction)
			.doFirst(() -> R2dbcClaims.forget(transaction, this.table, context));
	}

}
