// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.StoreCapabilities;

/**
 * The locks of one store. The waiters of one JVM form a FIFO queue for each lock, and the
 * store is asked only for the first of them. A FAIR waiter also stands in the line of the
 * store.
 */
final class Engine {

	private static final Log logger = LogFactory.getLog(DefaultLockRegistry.class);

	private final LockStore store;

	private final Terms terms;

	private final LocalLocks locks;

	private final EngineThreads threads;

	private final StoreCapabilities capabilities;

	private final Waiters waiters;

	private final StoreDesk desk;

	private final Admission admission;

	private final SimultaneousGrant simultaneousGrant;

	/**
	 * Create an engine.
	 * @param name the name of the store in messages
	 * @param store the store
	 * @param settings wait times, lease times and intervals
	 * @param listener called with each event; must not throw
	 */
	Engine(String name, LockStore store, EngineSettings settings, LockListener listener, Time time) {
		this.store = store;
		this.capabilities = StoreCapabilities.of(name, store);
		LockStore safeStore = new WellBehavedStore(store);
		this.threads = new EngineThreads(safeStore, time);
		this.waiters = new Waiters(this.capabilities, settings.waitTime(), time);
		this.terms = new Terms(settings, time);
		this.locks = new LocalLocks(this.terms);
		OutageLog outages = new OutageLog(name, safeStore, this.threads.background()::serverOf,
				this.threads.timetable(), settings.leaseTime().dividedBy(10));
		LossNotice notice = new LossNotice(name, listener, this.threads.callbacks(), outages);
		this.desk = new StoreDesk(safeStore, settings, this.threads, this.locks, notice, outages);
		safeStore.onInterruption(this::renewAll);
		this.admission = new Admission(this.desk, outages, listener, this.capabilities, this.threads.returns());
		this.simultaneousGrant = new SimultaneousGrant(safeStore, this.terms, this.locks, this.desk, this.admission,
				this.threads.timetable());
	}

	private void renewAll() {
		this.locks.all().stream().map(LocalLock::tenure).filter(Objects::nonNull).forEach(this.desk.watchdog()::hasten);
	}

	/**
	 * Return whether this is the engine of a store.
	 */
	boolean isOf(LockStore store) {
		return this.store == store;
	}

	/**
	 * Return the name of the store in messages.
	 */
	String name() {
		return this.capabilities.store();
	}

	Lease acquire(LockRequest request) {
		ThreadWaiter waiter = this.waiters.ofThread(request);
		Lease lease = obtain(request.key(), waiter);
		if (lease == null) {
			throw new LockContendedException(request.key(), waiter.waited());
		}
		return lease;
	}

	Optional<Lease> tryAcquire(LockRequest request) {
		return Optional.ofNullable(obtain(request.key(), this.waiters.ofThread(request)));
	}

	CompletableFuture<Lease> acquireAsync(LockRequest request) {
		return acquireAsync(request, new Object());
	}

	private CompletableFuture<Lease> acquireAsync(LockRequest request, Object otherwise) {
		return this.waiters.ofFuture(request, otherwise, this.admission, this.threads).begin();
	}

	LeaseSet acquireAll(LockSetRequest request) {
		request.requests().forEach(this.waiters::require);
		Function<LockRequest, ThreadWaiter> waiters = (each) -> this.waiters.impatient(each, Thread.currentThread());
		return manyLocks(request, this.threads.bodies(),
				(all, time) -> CompletableFuture.completedFuture(this.simultaneousGrant.tryGrant(all, waiters, time)),
				(each) -> CompletableFuture.completedFuture(acquire(each)))
			.await();
	}

	CompletableFuture<LeaseSet> acquireAllAsync(LockSetRequest request) {
		request.requests().forEach(this.waiters::require);
		Object owner = new Object();
		Function<LockRequest, ThreadWaiter> waiters = (each) -> this.waiters.impatient(each, owner);
		return manyLocks(request, CallContext.capture().on(this.threads.bodies()),
				(all, time) -> this.simultaneousGrant.tryGrantAsync(all, waiters, time, this.threads.tasks()),
				(each) -> acquireAsync(each, owner))
			.begin();
	}

	private ManyLocks manyLocks(LockSetRequest request, Executor bodies,
			BiFunction<List<LockRequest>, Duration, CompletableFuture<@Nullable List<Lease>>> atOnce,
			Function<LockRequest, CompletableFuture<Lease>> one) {
		LockKey first = request.requests().get(0).key();
		Executor lane = (task) -> this.threads.requests().execute(first, task);
		return new ManyLocks(this.terms.time(), request.requests(), this.waiters.waitTime(request), atOnce, one, lane,
				bodies, this.threads.returns());
	}

	/**
	 * Check that the store can grant a lock.
	 * @throws IllegalArgumentException if it cannot
	 */
	void require(LockRequest request) {
		this.capabilities.require(request);
	}

	private @Nullable HeldLease obtain(LockKey key, ThreadWaiter waiter) {
		return waiter.obtain(key, this.admission);
	}

	boolean isClosed() {
		return this.threads.areEnded();
	}

	/**
	 * Grant locks, also after {@link #refuse()}, and connect in the background.
	 */
	void open() {
		this.desk.connect(this.terms::isRefusing);
		this.desk.watchdog().setRenewing(true);
		this.terms.setRefusing(false);
	}

	/**
	 * Refuse new requests and end all waits.
	 */
	void refuse() {
		this.terms.setRefusing(true);
		this.desk.refuseWaiters();
	}

	/**
	 * Let holders finish.
	 * @param timeout how long to wait for them, for messages
	 * @param deadline when to stop waiting for them
	 */
	void awaitHolders(Duration timeout, long deadline) {
		List<LockKey> held = this.locks.held();
		if (!held.isEmpty()) {
			logger.info("Waiting up to " + timeout.toMillis() + " ms for the holders of locks before the shutdown: "
					+ held);
		}
		this.locks.awaitIdle(deadline);
	}

	/**
	 * Stop renewing leases.
	 * @param shutdownTimeout how long holders were waited for
	 */
	void stopRenewing(Duration shutdownTimeout) {
		warnOfHeldLocks(shutdownTimeout);
		this.desk.watchdog().setRenewing(false);
		this.desk.awaitAnswers();
	}

	/**
	 * Other locks are not held: they have waiters whose last request is not answered.
	 */
	private void warnOfHeldLocks(Duration shutdownTimeout) {
		List<LockKey> held = this.locks.held();
		if (!held.isEmpty()) {
			logger.warn("Locks still held after " + shutdownTimeout.toMillis()
					+ " ms of shutdown, until their leases expire: " + held);
		}
	}

	/**
	 * End all threads.
	 */
	void close() {
		this.threads.close();
	}

	int activeLocks() {
		return this.locks.size();
	}

	/**
	 * Return how many actions are scheduled or under way in the background.
	 */
	int backgroundActions() {
		return this.threads.timetable().size() + this.desk.underWay();
	}

}
