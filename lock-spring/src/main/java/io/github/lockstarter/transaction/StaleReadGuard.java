// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;

/**
 * Guards code under a lock against data that its thread read before the lock was
 * acquired, and decides how long the lock is held.
 *
 * @param onActiveTransaction the reaction to a transaction that is already active
 * @param onPersistenceContext the reaction to an open persistence context
 * @param warned what has been warned of
 */
record StaleReadGuard(OnActiveTransaction onActiveTransaction, OnPersistenceContext onPersistenceContext,
		Set<String> warned) {

	private static final Log logger = LogFactory.getLog(StaleReadGuard.class);

	/** Names of locks are few, unless an application takes keys for names. */
	private static final int MAX_WARNINGS = 1000;

	StaleReadGuard(OnActiveTransaction onActiveTransaction, OnPersistenceContext onPersistenceContext) {
		this(onActiveTransaction, onPersistenceContext, ConcurrentHashMap.newKeySet());
	}

	/**
	 * Decide about locks that the current thread is about to acquire.
	 * @param body whether the locks guard a body
	 * @param reentrant whether the thread holds them already: such an acquisition counts
	 * as acquired when the outermost one was
	 * @throws IllegalStateException if they must not be acquired
	 */
	Decision decide(List<LockRequest> locks, boolean body, boolean reentrant) {
		if (isTransactionActive()) {
			return insideTransaction(locks, reentrant);
		}
		// After a commit the resources of a transaction may still be bound
		if (reentrant || TransactionSynchronizationManager.isActualTransactionActive()
				|| !PersistenceContexts.areOpen()) {
			return Decision.NOTHING;
		}
		return besidePersistenceContext(locks, body);
	}

	static boolean isTransactionActive() {
		return TransactionSynchronizationManager.isSynchronizationActive()
				&& TransactionSynchronizationManager.isActualTransactionActive();
	}

	private Decision insideTransaction(List<LockRequest> locks, boolean reentrant) {
		String name = TransactionSynchronizationManager.getCurrentTransactionName();
		String inside = "inside " + ((name != null) ? "the transaction '" + name + "'" : "a transaction");
		return switch (this.onActiveTransaction) {
			case FAIL -> throw new IllegalStateException("Lock '" + locks.get(0).key() + "' must not be acquired "
					+ inside
					+ ", which may have read before it has the lock; nothing was executed. Acquire the lock before the"
					+ " transaction begins, or choose distributed-lock.on-active-transaction=defer and let the locked code begin a"
					+ " transaction of its own (Propagation.REQUIRES_NEW)");
			case RELEASE_ON_RETURN -> {
				logger.warn("Lock '" + locks.get(0).key() + "' is acquired " + inside + " and released before that"
						+ " commits: the next owner may not see what was written under the lock. Acquire it before the"
						+ " transaction begins, or set distributed-lock.on-active-transaction=defer");
				yield Decision.NOTHING;
			}
			case DEFER -> new Decision(true, false, null, name);
			case DEFAULT -> {
				if (!reentrant) {
					warnOnce("transaction", locks, " is acquired " + inside
							+ ". What this transaction read before may be"
							+ " stale: entities in its persistence context, and with REPEATABLE READ all that it reads"
							+ " from now on. While it waits for the lock, it may keep a database connection of the pool."
							+ " Acquire the lock before the transaction begins, and refuse such calls with"
							+ " distributed-lock.on-active-transaction=fail. Or begin a transaction of its own under the lock, with"
							+ " Propagation.REQUIRES_NEW, and set it to defer if this is intended");
				}
				yield new Decision(true, false, reentrant ? null : inside, name);
			}
		};
	}

	private Decision besidePersistenceContext(List<LockRequest> locks, boolean body) {
		OnPersistenceContext reaction = this.onPersistenceContext;
		if (reaction == OnPersistenceContext.IGNORE) {
			return Decision.NOTHING;
		}
		if (reaction == OnPersistenceContext.FAIL) {
			throw new IllegalStateException(
					"Lock '" + locks.get(0).key() + "' must not be acquired while a persistence context is"
							+ " open, which may return entities that it read before the lock; nothing was executed. Set"
							+ " spring.jpa.open-in-view=false, or choose distributed-lock.persistence-context=isolate");
		}
		// Inside the scope of Propagation.SUPPORTS the persistence context belongs to
		// that
		boolean isolated = body && reaction != OnPersistenceContext.WARN
				&& !TransactionSynchronizationManager.isSynchronizationActive();
		if (!isolated) {
			warnOnce("persistence context", locks, " is acquired while a persistence context is open, and entities that"
					+ " it read before may be stale, because it returns them without asking the database again. Set"
					+ " spring.jpa.open-in-view=false, or use @DistributedLock or a LockTemplate, whose bodies run"
					+ " without it; or call entityManager.refresh(entity) under the lock, and set"
					+ " distributed-lock.persistence-context=ignore");
			return new Decision(false, false, "while a persistence context is open", null);
		}
		if (reaction == OnPersistenceContext.DEFAULT) {
			warnOnce("isolated", locks, " is acquired while a persistence context is open. To read fresh data, the body"
					+ " runs without it: entities that were read before are not managed in the body, so pass their ids;"
					+ " and entities that the body returns are detached, so fetch lazy associations inside of it. An"
					+ " entity that was changed before may be written after the body, over what the body has written."
					+ " Set spring.jpa.open-in-view=false to open none before the lock, or"
					+ " distributed-lock.persistence-context=isolate if this is intended");
		}
		return new Decision(false, true, null, null);
	}

	private void warnOnce(String kind, List<LockRequest> locks, String message) {
		if (this.warned.size() < MAX_WARNINGS && this.warned.add(kind + " of " + subject(locks))) {
			logger.warn(subject(locks) + message + ". This warning is logged once for each lock name");
		}
	}

	private static String subject(List<LockRequest> locks) {
		return locks.stream()
			.map((each) -> each.key().name())
			.distinct()
			.collect(Collectors.joining("', '", (locks.size() == 1) ? "Lock '" : "The set of locks '", "'"));
	}

	/**
	 * What happens with locks that are acquired.
	 *
	 * @param deferred whether they are held until the end of the current transaction
	 * @param isolated whether their body runs without the open persistence contexts
	 * @param late why they come after what they guard was read, or {@code null}
	 * @param transaction the name of the current transaction
	 */
	record Decision(boolean deferred, boolean isolated, @Nullable String late, @Nullable String transaction) {

		static final Decision NOTHING = new Decision(false, false, null, null);

	}

}
