// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Function;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockStore;

/**
 * The {@link LockRegistry} of one store, whichever it is. The waiters of one JVM form a
 * FIFO queue for each lock, and the store is asked only for the first of them. A FAIR
 * waiter also stands in the line of the store.
 *
 * <p>
 * An application with several stores has a registry for each of them. Their locks are
 * different locks, even if their keys are the same.
 */
public final class DefaultLockRegistry implements LockRegistry, AutoCloseable {

	private static final Log logger = LogFactory.getLog(DefaultLockRegistry.class);

	private final String name;

	private final LockStore store;

	private final LockSettings lockSettings;

	private final Duration shutdownTimeout;

	private final Terms terms;

	private final LocalLocks locks;

	private final EngineThreads threads;

	private final StoreCapabilities capabilities;

	private final Duration waitTime;

	private final StoreGateway gateway;

	/** When {@link #drain()} stops waiting for holders; set before locks are refused. */
	private volatile long deadline;

	private volatile boolean drained;

	/**
	 * Create a registry with default settings and without a listener.
	 * @param store the store
	 */
	public DefaultLockRegistry(LockStore store) {
		this(store, EngineSettings.DEFAULTS, LockListener.NO_OP);
	}

	/**
	 * Create a registry.
	 * @param store the store
	 * @param settings wait times, lease times and intervals
	 * @param listener called with each event; its failures do not affect the locks
	 */
	public DefaultLockRegistry(LockStore store, EngineSettings settings, LockListener listener) {
		this(store, settings, listener, Time.SYSTEM);
	}

	/**
	 * Create a registry with a time of its own, for tests.
	 * @param store the store
	 * @param settings wait times, lease times and intervals
	 * @param listener called with each event; its failures do not affect the locks
	 * @param time the clock and the waits of this registry
	 */
	public DefaultLockRegistry(LockStore store, EngineSettings settings, LockListener listener, Time time) {
		this(store.name(), store, LockSettings.NONE, settings, listener, time);
	}

	/**
	 * Create a registry with settings of lock names.
	 * @param name the name of the registry in messages, in events and in the tables of
	 * fenced transactions, the same in all instances; other registries of the application
	 * have other names
	 * @param store the store
	 * @param lockSettings the settings of lock names
	 * @param settings wait times, lease times and intervals
	 * @param listener called with each event; its failures do not affect the locks
	 * @param time the clock and the waits of this registry
	 */
	public DefaultLockRegistry(String name, LockStore store, LockSettings lockSettings, EngineSettings settings,
			LockListener listener, Time time) {
		this.name = name;
		this.store = store;
		this.lockSettings = lockSettings;
		this.shutdownTimeout = settings.shutdownTimeout();
		this.capabilities = StoreCapabilities.of(name, store);
		LockListener safeListener = LockListener.of(List.of(listener));
		this.threads = new EngineThreads(time);
		this.terms = new Terms(settings, time);
		this.waitTime = settings.waitTime();
		OutageLog outages = new OutageLog(name, store, this.threads.timetable(), settings.leaseTime().dividedBy(10));
		LeaseEvents events = new LeaseEvents(name, safeListener, this.threads.callbacks(), this.threads.events(),
				outages);
		this.gateway = new StoreGateway(store, this.capabilities, settings, this.threads, this.terms, events, outages);
		this.locks = this.gateway.locks();
		store.setInstance(settings.instanceName());
		store.onInterruption(this::renewAll);
	}

	private void renewAll() {
		ownerships().forEach(this.gateway.watchdog()::hasten);
	}

	private Stream<Ownership> ownerships() {
		return this.locks.all().stream().flatMap((lock) -> lock.ownerships().stream());
	}

	/**
	 * Return how to see who holds a lock, and to free it, if the store can show that.
	 * Unlike the store, it knows each hold of this instance: it shows the fencing token
	 * of the current one, and the token of an earlier one in the same ownership frees
	 * nothing. An owner in this instance learns at once that its lock was freed. It may
	 * block as the store does.
	 */
	public Optional<LockInspection> inspection() {
		return this.store.inspection()
			.map((ofStore) -> new HoldInspection(ofStore, this.locks, this.gateway.watchdog()));
	}

	/**
	 * Return what this registry holds and waits for now, as far as this instance knows.
	 * The store is not asked.
	 */
	public LocalState localState() {
		return LocalState.of(this.locks.all());
	}

	/**
	 * Return what this registry has done and what is under way now. The store is not
	 * asked.
	 */
	public Counts counts() {
		long lag = 0;
		int suspects = 0;
		for (Ownership ownership : ownerships().toList()) {
			lag = Math.max(lag, this.gateway.watchdog().lag(ownership));
			suspects += ownership.isSuspect() ? 1 : 0;
		}
		return new Counts(this.terms.handOffs(), this.gateway.orphans(), Duration.ofNanos(lag), suspects);
	}

	/**
	 * Return the name of this registry.
	 */
	public String name() {
		return this.name;
	}

	/**
	 * Return whether this registry is {@linkplain #close() closed}.
	 */
	public boolean isClosed() {
		return this.threads.areEnded();
	}

	/**
	 * Return the store that keeps the locks.
	 */
	public LockStore store() {
		return this.store;
	}

	/**
	 * Return what the store cannot do of a request, for checks before the first call.
	 * @param request a request, with a time to hold the lock at least if a template is to
	 * apply one
	 * @return the rest of a sentence that begins with the lock, or {@code null} if the
	 * store can do all of it
	 */
	public @Nullable String objection(LockRequest request) {
		return this.capabilities.objection(request);
	}

	@Override
	public LockSettings settings() {
		return this.lockSettings;
	}

	@Override
	public Lease acquire(LockRequest request) {
		ThreadWaiter waiter = threadWaiter(request);
		Lease lease = waiter.obtain(request.key(), this.gateway);
		if (lease == null) {
			throw AcquireFailure.contention(request.key(), waiter);
		}
		return lease;
	}

	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		return Optional.ofNullable(threadWaiter(request).obtain(request.key(), this.gateway));
	}

	@Override
	public CompletableFuture<Lease> acquireAsync(LockRequest request) {
		return acquireAsync(request, new FutureOwner());
	}

	private CompletableFuture<Lease> acquireAsync(LockRequest request, Object otherwise) {
		require(request);
		FutureWaiter waiter = new FutureWaiter(this.terms, this.lockSettings.limit(request), waitTime(request),
				owner(request, otherwise), this.gateway, this.threads);
		waiter.setBody(request.body() != null);
		return waiter.begin();
	}

	private ThreadWaiter threadWaiter(LockRequest request) {
		require(request);
		LockRequest limited = this.lockSettings.limit(request);
		ThreadWaiter waiter = new ThreadWaiter(this.terms, waitTime(request), request.mode(), limited.leaseTime(),
				limited.holdAtMost(), owner(request, Thread.currentThread()));
		waiter.setBody(request.body() != null);
		return waiter;
	}

	/**
	 * Refuse a request for what the store cannot do, or with a time that only a template
	 * applies, because the lock would be free too early.
	 */
	private void require(LockRequest request) {
		this.capabilities.require(request);
		if (request.holdAtLeast() != null) {
			throw new IllegalArgumentException("Lock '" + request.key() + "' is requested with 'holdAtLeast', which is"
					+ " for a LockTemplate only; call holdAtLeast(…) on the lease instead");
		}
	}

	private static Object owner(LockRequest request, Object otherwise) {
		Object owner = request.owner();
		return (owner != null) ? owner : otherwise;
	}

	private Duration waitTime(LockRequest request) {
		Duration waitTime = (request.waitTime() != null) ? request.waitTime() : waitTimeOfName(request);
		return (waitTime != null) ? waitTime : this.waitTime;
	}

	/**
	 * Return how long requests for several locks wait for all of them: as one of them
	 * says, or else the shortest time in the settings of their names.
	 */
	private Duration waitTime(List<LockRequest> requests) {
		Duration shortest = null;
		for (LockRequest each : requests) {
			if (each.waitTime() != null) {
				return each.waitTime();
			}
			Duration ofName = waitTimeOfName(each);
			if (ofName != null && (shortest == null || ofName.compareTo(shortest) < 0)) {
				shortest = ofName;
			}
		}
		return (shortest != null) ? shortest : this.waitTime;
	}

	private @Nullable Duration waitTimeOfName(LockRequest request) {
		return this.lockSettings.get(request.key().name()).waitTime();
	}

	@Override
	public LeaseSet acquireAll(Collection<LockRequest> requests) {
		return multiLockAcquisition(requests, (each) -> CompletableFuture.completedFuture(acquire(each)), Runnable::run)
			.await();
	}

	@Override
	public Optional<LeaseSet> tryAcquireAll(Collection<LockRequest> requests) {
		try {
			return Optional.of(acquireAll(requests));
		}
		catch (LockContendedException ex) {
			return Optional.empty();
		}
	}

	@Override
	public CompletableFuture<LeaseSet> acquireAllAsync(Collection<LockRequest> requests) {
		Object owner = new FutureOwner();
		return multiLockAcquisition(requests, (each) -> acquireAsync(each, owner),
				CallContext.capture().on(this.threads.bodies()))
			.begin();
	}

	private MultiLockAcquisition multiLockAcquisition(Collection<LockRequest> requests,
			Function<LockRequest, CompletableFuture<Lease>> one, Executor bodies) {
		List<LockRequest> sorted = MultiLockAcquisition.inOrder(requests);
		sorted.forEach(this::require);
		return new MultiLockAcquisition(this.terms.time(), sorted, waitTime(sorted), one, bodies, this.threads::release,
				this.gateway::releaseInTime);
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalArgumentException if the store has no shared locks
	 */
	@Override
	public ReadWriteLock readWriteLock(LockKey key) {
		this.capabilities.require(LockRequest.of(key).withMode(LockMode.READ));
		return LockRegistry.super.readWriteLock(key);
	}

	/**
	 * Connect to the store without waiting for that, and grant locks again after
	 * {@link #drain()}.
	 * @throws IllegalStateException if this registry is closed
	 */
	public void open() {
		if (this.threads.areEnded()) {
			throw new IllegalStateException("A closed registry cannot be opened again: create a new one");
		}
		this.gateway.connect(this.terms::isRefusing);
		this.gateway.watchdog().setRenewing(true);
		this.drained = false;
		this.terms.setRefusing(false);
	}

	/**
	 * Refuse new requests and end all waits: the beginning of {@link #drain()}, for an
	 * application that drains several registries within one shutdown timeout.
	 */
	public void refuse() {
		if (!this.terms.isRefusing()) {
			this.deadline = this.terms.time().now() + this.shutdownTimeout.toNanos();
			this.terms.setRefusing(true);
			this.gateway.refuseWaiters();
		}
	}

	/**
	 * Refuse new requests and end all waits, let holders finish for at most the shutdown
	 * timeout, and then stop renewing leases. No lock is released under a running body;
	 * its lease expires instead.
	 */
	public void drain() {
		refuse();
		List<LockKey> held = this.locks.held();
		if (!held.isEmpty()) {
			logger.info("Waiting up to " + this.shutdownTimeout.toMillis()
					+ " ms for the holders of locks before the shutdown: " + held);
		}
		this.locks.awaitIdle(this.deadline);
		warnOfHeldLocks();
		this.gateway.watchdog().setRenewing(false);
		this.gateway.awaitAnswers();
		this.drained = true;
	}

	/**
	 * Other locks are not held: they have waiters whose last request is not answered.
	 */
	private void warnOfHeldLocks() {
		List<LockKey> held = this.locks.held();
		if (!held.isEmpty()) {
			logger.warn("Locks still held after " + this.shutdownTimeout.toMillis()
					+ " ms of shutdown, until their leases expire: " + held);
		}
	}

	/**
	 * {@linkplain #drain() Drain} this registry if that has not been done, or is not
	 * finished, and end all threads.
	 */
	@Override
	public void close() {
		if (!this.drained) {
			drain();
		}
		this.threads.close();
	}

	@Override
	public String toString() {
		return "Lock registry '" + this.name + "'";
	}

	int activeLocks() {
		return this.locks.size();
	}

	/** How many actions are scheduled or under way in the background. */
	int backgroundActions() {
		return this.threads.timetable().size() + this.gateway.underWay();
	}

	/**
	 * The owner of a lease that was requested without one and without a thread.
	 */
	private static final class FutureOwner {

		@Override
		public String toString() {
			return "a future";
		}

	}

}
