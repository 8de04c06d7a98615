// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that code under a lock does not work with what its thread read before the
 * lock: by a reaction to what is open on the thread, or else by a warning and an event.
 *
 * @param onActiveTransaction the reaction that the author of the code has chosen to a
 * transaction, or {@code DEFAULT}
 * @param persistenceContext the same for a persistence context
 * @param defaultOnActiveTransaction the reaction to a transaction without a choice
 * @param defaultPersistenceContext the same for a persistence context
 * @param caller the code that warnings name, or {@code null} for the names of the locks
 * @param warned what has been warned of; shared with all copies for the same caller
 */
record FreshReads(OnActiveTransaction onActiveTransaction, OnPersistenceContext persistenceContext,
		OnActiveTransaction defaultOnActiveTransaction, OnPersistenceContext defaultPersistenceContext,
		@Nullable String caller, Set<String> warned) {

	private static final Log logger = LogFactory.getLog(FreshReads.class);

	/** Names of locks are few, unless an application takes keys for names. */
	private static final int MAX_WARNINGS = 1000;

	/**
	 * Create the reactions of code that has not chosen any.
	 */
	static FreshReads byDefault(OnActiveTransaction onActiveTransaction, OnPersistenceContext persistenceContext) {
		return new FreshReads(OnActiveTransaction.DEFAULT, OnPersistenceContext.DEFAULT, onActiveTransaction,
				persistenceContext, null, ConcurrentHashMap.newKeySet());
	}

	FreshReads with(OnActiveTransaction chosen) {
		return new FreshReads(chosen, this.persistenceContext, this.defaultOnActiveTransaction,
				this.defaultPersistenceContext, this.caller, this.warned);
	}

	FreshReads with(OnPersistenceContext chosen) {
		return new FreshReads(this.onActiveTransaction, chosen, this.defaultOnActiveTransaction,
				this.defaultPersistenceContext, this.caller, this.warned);
	}

	FreshReads withDefaults(OnActiveTransaction onActiveTransaction, OnPersistenceContext persistenceContext) {
		return new FreshReads(this.onActiveTransaction, this.persistenceContext, onActiveTransaction,
				persistenceContext, this.caller, this.warned);
	}

	FreshReads forCaller(String caller) {
		return new FreshReads(this.onActiveTransaction, this.persistenceContext, this.defaultOnActiveTransaction,
				this.defaultPersistenceContext, caller, ConcurrentHashMap.newKeySet());
	}

	/**
	 * Return whether a lock that is about to be acquired must be held until the end of a
	 * transaction.
	 * @throws IllegalStateException if the lock must not be acquired
	 */
	boolean defersRelease(AnyLockRequest<?> request, LockRegistry registry) {
		boolean chosen = this.onActiveTransaction != OnActiveTransaction.DEFAULT;
		boolean defers = TransactionBoundary.defersRelease(request,
				chosen ? this.onActiveTransaction : this.defaultOnActiveTransaction);
		if (!chosen && TransactionBoundary.isActive() && !LeaseContext.isReentrant(request)) {
			String inside = "inside " + TransactionBoundary.description();
			tell(registry, request, inside, TransactionBoundary.name());
			if (isFirst("transaction", request)) {
				logger.warn(subject(request) + " is acquired " + inside
						+ ". What this transaction read before may be stale: entities in its persistence context, and"
						+ " with REPEATABLE READ all that it reads from now on."
						+ (TransactionBoundary.holdsConnection()
								? " While it waits for the lock, it keeps a database connection of the pool." : "")
						+ " Acquire the lock before the transaction begins, and refuse such calls with"
						+ " OnActiveTransaction.FAIL. Or begin a transaction of its own under the lock, with"
						+ " Propagation.REQUIRES_NEW"
						+ ((this.caller != null) ? " on the locked method, and set onActiveTransaction there"
								: ", and call withOnActiveTransaction of the LockTemplate (a LockRegistry has no such choice)")
						+ " to say that this is intended. " + once());
			}
		}
		return defers;
	}

	/**
	 * Return the body in the form in which it runs under a lock that is about to be
	 * acquired. Persistence contexts that it runs without do not keep a connection while
	 * the thread waits.
	 * @throws IllegalStateException if the lock must not be acquired
	 */
	<L extends LeaseSet, T extends @Nullable Object, X extends Throwable> LockedBody<L, T, X> isolated(
			AnyLockRequest<L> request, LockRegistry registry, LockedBody<L, T, X> body) {
		OnPersistenceContext reaction = reaction();
		if (reaction != OnPersistenceContext.ISOLATE) {
			check(request, registry);
			return body;
		}
		if (!isPersistenceContextOpen(request)) {
			return body;
		}
		boolean intended = this.persistenceContext == OnPersistenceContext.ISOLATE;
		if (!intended && isFirst("isolated", request)) {
			logger.warn(subject(request) + " is acquired while a persistence context is open. To read fresh data, the"
					+ " body runs without it: entities that were read before are not managed in the body, so pass their"
					+ " ids; and entities that the body returns are detached, so fetch lazy associations inside of it."
					+ " An entity that was changed before may be written after the body, over what the body has written."
					+ " Set spring.jpa.open-in-view=false to open none before the lock, or say"
					+ ((this.caller != null) ? " persistenceContext = OnPersistenceContext.ISOLATE on the locked method"
							: " withPersistenceContext(OnPersistenceContext.ISOLATE) on the LockTemplate")
					+ " if this is intended. " + once());
		}
		// Waiters that keep their connections would leave none for the body of the holder
		TransactionBoundary.disconnectPersistenceContexts();
		return (lease) -> {
			// Ends before the release, so that listeners and handlers see what the caller
			// sees
			Runnable resume = TransactionBoundary.suspendPersistenceContexts();
			try {
				return body.run(lease);
			}
			finally {
				resume.run();
			}
		};
	}

	/**
	 * Check the thread before it acquires a lock without a body, or one whose body is not
	 * isolated.
	 * @throws IllegalStateException if the lock must not be acquired
	 */
	void check(AnyLockRequest<?> request, LockRegistry registry) {
		OnPersistenceContext reaction = reaction();
		if (reaction == OnPersistenceContext.IGNORE || !isPersistenceContextOpen(request)) {
			return;
		}
		if (reaction == OnPersistenceContext.FAIL) {
			throw new IllegalStateException(subject(request) + " must not be acquired while a persistence context is"
					+ " open, which may return entities that it read before the lock; nothing was executed. Set"
					+ " spring.jpa.open-in-view=false, or choose OnPersistenceContext.ISOLATE");
		}
		tell(registry, request, "while a persistence context is open", null);
		if (isFirst("persistence context", request)) {
			logger.warn(subject(request) + " is acquired while a persistence context is open, and entities that it read"
					+ " before may be stale, because it returns them without asking the database again. Set"
					+ " spring.jpa.open-in-view=false, use @DistributedLock or LockTemplate with"
					+ " OnPersistenceContext.ISOLATE, or call entityManager.refresh(entity) under the lock and choose"
					+ " OnPersistenceContext.IGNORE. " + once());
		}
	}

	private OnPersistenceContext reaction() {
		OnPersistenceContext reaction = (this.persistenceContext != OnPersistenceContext.DEFAULT)
				? this.persistenceContext : this.defaultPersistenceContext;
		return (reaction != OnPersistenceContext.DEFAULT) ? reaction : OnPersistenceContext.ISOLATE;
	}

	/** A reentrant lock is as old as its first hold. */
	private static boolean isPersistenceContextOpen(AnyLockRequest<?> request) {
		return TransactionBoundary.isPersistenceContextOpen() && !TransactionBoundary.isActive()
				&& !LeaseContext.isReentrant(request);
	}

	private static void tell(LockRegistry registry, AnyLockRequest<?> request, String reason,
			@Nullable String transaction) {
		LockSetRequest.requestsOf(request).forEach((each) -> registry.acquiringLate(each, reason, transaction));
	}

	private boolean isFirst(String kind, AnyLockRequest<?> request) {
		return this.warned.size() < MAX_WARNINGS && this.warned.add(kind + " of " + subject(request));
	}

	private String subject(AnyLockRequest<?> request) {
		if (this.caller != null) {
			return "The lock of '" + this.caller + "'";
		}
		List<LockRequest> requests = LockSetRequest.requestsOf(request);
		return requests.stream()
			.map((each) -> each.key().name())
			.distinct()
			.collect(Collectors.joining("', '", (requests.size() == 1) ? "Lock '" : "The set of locks '", "'"));
	}

	private String once() {
		return "This warning is logged once for each " + ((this.caller != null) ? "method" : "lock name");
	}

}
