// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.BiFunction;
import java.util.function.Function;

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
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.event.CompositeLockListener;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.StoreCapabilities;

/**
 * The {@link LockRegistry} for every store. The waiters of one JVM form a FIFO queue for
 * each lock, and the store is asked only for the first of them. A FAIR waiter also stands
 * in the line of the store.
 */
public final class DefaultLockRegistry implements LockRegistry, AutoCloseable {

	private static final Log logger = LogFactory.getLog(DefaultLockRegistry.class);

	private final Terms terms;

	private final LocalLocks locks;

	private final EngineThreads threads;

	private final EngineSettings settings;

	private final StoreCapabilities capabilities;

	private final Waiters waiters;

	private final StoreDesk desk;

	private final Admission admission;

	private final SimultaneousGrant simultaneousGrant;

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
		this.capabilities = StoreCapabilities.of(store);
		LockStore safeStore = new WellBehavedStore(store);
		this.threads = new EngineThreads(safeStore);
		this.settings = settings;
		this.waiters = new Waiters(this.capabilities, settings.waitTime());
		this.terms = new Terms(settings, this.threads.timetable()::now);
		this.locks = new LocalLocks(this.terms);
		LockListener safeListener = new CompositeLockListener(List.of(listener));
		LossNotice notice = new LossNotice(safeListener, this.threads.callbacks());
		OutageLog outages = new OutageLog(this.threads.background()::serverOf);
		this.desk = new StoreDesk(safeStore, settings, this.threads, this.locks, notice, outages);
		this.admission = new Admission(this.desk, outages, safeListener, this.capabilities, this.threads.returns());
		this.simultaneousGrant = new SimultaneousGrant(safeStore, this.terms, this.locks, this.desk, this.admission,
				this.threads.timetable());
	}

	@Override
	public Lease acquire(LockRequest request) {
		ThreadWaiter waiter = this.waiters.ofThread(request);
		Lease lease = obtain(request.key(), waiter);
		if (lease == null) {
			throw new LockContendedException(request.key(), waiter.waited());
		}
		return lease;
	}

	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		return Optional.ofNullable(obtain(request.key(), this.waiters.ofThread(request)));
	}

	@Override
	public CompletableFuture<Lease> acquireAsync(LockRequest request) {
		return acquireAsync(request, new Object());
	}

	private CompletableFuture<Lease> acquireAsync(LockRequest request, Object otherwise) {
		return this.waiters.ofFuture(request, otherwise, this.admission, this.threads).begin();
	}

	@Override
	public LeaseSet acquireAll(LockSetRequest request) {
		request.requests().forEach(this.waiters::require);
		Function<LockRequest, ThreadWaiter> waiters = (each) -> this.waiters.impatient(each, Thread.currentThread());
		return manyLocks(request,
				(all, time) -> CompletableFuture.completedFuture(this.simultaneousGrant.tryGrant(all, waiters, time)),
				(each) -> CompletableFuture.completedFuture(acquire(each)))
			.await();
	}

	@Override
	public Optional<LeaseSet> tryAcquireAll(LockSetRequest request) {
		try {
			return Optional.of(acquireAll(request));
		}
		catch (LockContendedException ex) {
			return Optional.empty();
		}
	}

	@Override
	public CompletableFuture<LeaseSet> acquireAllAsync(LockSetRequest request) {
		request.requests().forEach(this.waiters::require);
		Object owner = new Object();
		Function<LockRequest, ThreadWaiter> waiters = (each) -> this.waiters.impatient(each, owner);
		return manyLocks(request,
				(all, time) -> this.simultaneousGrant.tryGrantAsync(all, waiters, time, this.threads.tasks()),
				(each) -> acquireAsync(each, owner))
			.begin();
	}

	private ManyLocks manyLocks(LockSetRequest request,
			BiFunction<List<LockRequest>, Duration, CompletableFuture<@Nullable List<Lease>>> atOnce,
			Function<LockRequest, CompletableFuture<Lease>> one) {
		LockKey first = request.requests().get(0).key();
		Executor lane = (task) -> this.threads.requests().execute(first, task);
		return new ManyLocks(request.requests(), this.waiters.waitTime(request), atOnce, one, lane,
				this.threads.bodies(), this.threads.returns());
	}

	@Override
	public Lock lock(LockKey key) {
		return new RegistryLock(this, key, LockMode.EXCLUSIVE);
	}

	@Override
	public ReadWriteLock readWriteLock(LockKey key) {
		this.capabilities.require(LockRequest.of(key).withMode(LockMode.READ));
		return new RegistryReadWriteLock(new RegistryLock(this, key, LockMode.READ),
				new RegistryLock(this, key, LockMode.WRITE));
	}

	/**
	 * Acquire a lock.
	 * @return the lease, or {@code null} if another owner held the lock for the whole
	 * wait time
	 */
	@Nullable HeldLease obtain(LockKey key, ThreadWaiter waiter) {
		return waiter.obtain(key, this.admission);
	}

	/**
	 * Return the hold of the current thread on a lock, or {@code null}.
	 */
	@Nullable Hold holdOfCurrentThread(LockKey key) {
		LocalLock lock = this.locks.get(key);
		return (lock != null) ? lock.holdOf(Thread.currentThread()) : null;
	}

	/**
	 * Grant locks again after {@link #drain()}.
	 * @throws IllegalStateException if this registry is closed
	 */
	public void open() {
		if (this.threads.areEnded()) {
			throw new IllegalStateException("A closed registry cannot be opened again: create a new one");
		}
		this.desk.watchdog().setRenewing(true);
		this.terms.setRefusing(false);
	}

	/**
	 * Refuse new requests and end all waits, let holders finish for at most the shutdown
	 * timeout, and then stop renewing leases. No lock is released under a running body;
	 * its lease expires instead.
	 */
	public void drain() {
		this.terms.setRefusing(true);
		this.desk.refuseWaiters();
		if (!this.locks.awaitEmpty(this.settings.shutdownTimeout().toNanos())) {
			warnOfHeldLocks();
		}
		this.desk.watchdog().setRenewing(false);
		this.desk.awaitAnswers();
	}

	/**
	 * The remaining locks are not held: they have waiters whose last request is not
	 * answered.
	 */
	private void warnOfHeldLocks() {
		List<LockKey> held = this.locks.held();
		if (!held.isEmpty()) {
			logger.warn("Locks still held after " + this.settings.shutdownTimeout().toMillis()
					+ " ms of shutdown, until their leases expire: " + held);
		}
	}

	/**
	 * {@linkplain #drain() Drain} this registry if that has not been done, and end all
	 * threads.
	 */
	@Override
	public void close() {
		if (!this.terms.isRefusing()) {
			drain();
		}
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
