// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.event.CompositeLockListener;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.LockStore;

/**
 * The {@link LockRegistry} above every store. Callers of one JVM queue for a lock first
 * come first served, and only the first of them asks the store.
 */
public final class DefaultLockRegistry implements LockRegistry, AutoCloseable {

	private static final Log logger = LogFactory.getLog(DefaultLockRegistry.class);

	private final LocalLocks locks;

	private final EngineThreads threads;

	private final EngineSettings settings;

	private final StoreDesk desk;

	private final Admission admission;

	private final SimultaneousGrant simultaneousGrant;

	private final ManyLocks manyLocks;

	/**
	 * Create a registry.
	 * @param store the store
	 * @param settings how long to wait and to hold
	 * @param listener told of what happens; its failures are kept from the locks
	 */
	public DefaultLockRegistry(LockStore store, EngineSettings settings, LockListener listener) {
		this.threads = new EngineThreads(store);
		this.settings = settings;
		this.locks = new LocalLocks(settings, this.threads.timetable()::now);
		LockListener safeListener = new CompositeLockListener(List.of(listener));
		LossNotice notice = new LossNotice(safeListener, this.threads.callbacks());
		OutageLog outages = new OutageLog(this.threads.background()::serverOf);
		this.desk = new StoreDesk(store, settings, this.threads, this.locks, notice, outages);
		this.admission = new Admission(this.desk, outages, safeListener, this.threads.tasks());
		this.simultaneousGrant = new SimultaneousGrant(store, this.locks, this.desk, this.admission,
				this.threads.timetable());
		this.manyLocks = new ManyLocks(
				(requests, waitTime) -> this.simultaneousGrant.tryGrant(requests,
						(request) -> waiter(request.withWaitTime(Duration.ZERO)), waitTime),
				(request) -> obtain(request.key(), waiter(request)), this.threads.tasks());
	}

	@Override
	public Lease acquire(LockRequest request) {
		if (!request.others().isEmpty()) {
			return this.manyLocks.acquire(request, waitTime(request));
		}
		return acquire(request.key(), waiter(request));
	}

	private Lease acquire(LockKey key, ThreadWaiter waiter) {
		Lease lease = obtain(key, waiter);
		if (lease == null) {
			throw new LockContendedException(key, waiter.waited());
		}
		return lease;
	}

	@Override
	public Lease acquire(LockRequest request, Function<LockKey, ?> owners) {
		if (!request.others().isEmpty()) {
			return new ManyLocks(
					(requests, waitTime) -> this.simultaneousGrant.tryGrant(requests,
							(each) -> waiter(each, Duration.ZERO, owners), waitTime),
					(each) -> obtain(each.key(), waiter(each, waitTime(each), owners)), this.threads.tasks())
				.acquire(request, waitTime(request));
		}
		return acquire(request.key(), waiter(request, waitTime(request), owners));
	}

	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		if (request.others().isEmpty()) {
			return Optional.ofNullable(obtain(request.key(), waiter(request)));
		}
		try {
			return Optional.of(acquire(request));
		}
		catch (LockContendedException ex) {
			return Optional.empty();
		}
	}

	@Override
	public CompletableFuture<Lease> acquireAsync(LockRequest request, Function<LockKey, ?> owners) {
		if (!request.others().isEmpty()) {
			return new AsyncManyLocks(request, waitTime(request),
					(requests, waitTime) -> this.simultaneousGrant.tryGrant(requests,
							(each) -> waiter(each, Duration.ZERO, owners), waitTime),
					(each) -> acquireAsync(each, owners), this.threads.tasks())
				.begin();
		}
		Object owner = owners.apply(request.key());
		return new FutureWaiter(request, waitTime(request), owner, this.admission, this.threads).begin();
	}

	@Override
	public Lock lock(LockKey key) {
		return new RegistryLock(this, key, LockMode.EXCLUSIVE);
	}

	@Override
	public ReadWriteLock readWriteLock(LockKey key) {
		return new RegistryReadWriteLock(new RegistryLock(this, key, LockMode.READ),
				new RegistryLock(this, key, LockMode.WRITE));
	}

	/**
	 * Take a lock.
	 * @return the lease, or {@code null} if somebody else held the lock until the caller
	 * was out of time
	 */
	@Nullable HeldLease obtain(LockKey key, ThreadWaiter waiter) {
		this.admission.come(waiter);
		try {
			HeldLease lease = null;
			while (lease == null && !(waiter.outcome() instanceof Denial)) {
				lease = attempt(key, waiter);
			}
			return lease;
		}
		finally {
			waiter.finish();
		}
	}

	private @Nullable HeldLease attempt(LockKey key, ThreadWaiter waiter) {
		waiter.reset();
		if (waiter.isInterrupted()) {
			waiter.settle(Denial.LEFT);
		}
		else {
			this.admission.arrive(key, waiter);
			waiter.await((timedOut) -> this.admission.leave(waiter, timedOut));
		}
		return this.admission.conclude(key, waiter, waiter.isInterrupted());
	}

	/**
	 * Return the hold of the current thread on a lock, if it has one.
	 */
	@Nullable Hold holdOfCurrentThread(LockKey key) {
		LocalLock lock = this.locks.get(key);
		return (lock != null) ? lock.holdOf(Thread.currentThread()) : null;
	}

	private ThreadWaiter waiter(LockRequest request) {
		return new ThreadWaiter(waitTime(request), true, request.mode(), request.leaseTime());
	}

	private static ThreadWaiter waiter(LockRequest request, Duration waitTime, Function<LockKey, ?> owners) {
		return new ThreadWaiter(waitTime, request.mode(), request.leaseTime(), owners.apply(request.key()));
	}

	private Duration waitTime(LockRequest request) {
		Duration waitTime = request.waitTime();
		return (waitTime != null) ? waitTime : this.settings.waitTime();
	}

	/**
	 * Grant locks again after {@link #drain()}.
	 */
	public void open() {
		this.desk.watchdog().setRenewing(true);
		this.locks.setRefusing(false);
	}

	/**
	 * Refuse new locks, end all waits, let holders finish for at most the shutdown
	 * timeout, and then stop renewing. Nothing is released under a body that still runs:
	 * what it holds stays taken until its lease ends.
	 */
	public void drain() {
		this.locks.setRefusing(true);
		this.locks.all().forEach((lock) -> this.desk.carryOut(lock.refuse()));
		if (!this.locks.awaitEmpty(this.settings.shutdownTimeout().toNanos())) {
			warnOfHeldLocks();
		}
		this.desk.watchdog().setRenewing(false);
		this.desk.awaitAnswers();
	}

	/** What is left also has waiters, whose last request to the store is not answered. */
	private void warnOfHeldLocks() {
		List<LockKey> held = this.locks.all().stream().filter(LocalLock::isHeld).map(LocalLock::key).toList();
		if (!held.isEmpty()) {
			logger.warn("Locks still held after " + this.settings.shutdownTimeout().toMillis()
					+ " ms of shutdown, which stay taken until their leases end: " + held);
		}
	}

	/**
	 * {@linkplain #drain() Drain} if that was not done, and end all threads.
	 */
	@Override
	public void close() {
		if (!this.locks.isRefusing()) {
			drain();
		}
		this.threads.close();
	}

	/**
	 * Return how many locks are held or waited for.
	 */
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
