// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.event.CompositeLockListener;
import io.github.lockstarter.event.LockListener;

/**
 * The {@link LockRegistry} above every store. Callers of one JVM queue for a lock first
 * come first served, and only the first of them asks the store.
 */
public final class DefaultLockRegistry implements LockRegistry, AutoCloseable {

	private static final Log logger = LogFactory.getLog(DefaultLockRegistry.class);

	private final LocalEntries entries;

	private final EngineThreads threads;

	private final FutureWatch futures = new FutureWatch();

	private final EngineSettings settings;

	private final StoreQueue queue;

	private final LeaseReturns returns;

	private final LeaseWatchdog watchdog;

	private final LeaseRelease release;

	private final Admission admission;

	private final SimultaneousGrant simultaneousGrant;

	private final ManyLocks manyLocks;

	private volatile boolean refusing;

	/**
	 * Create a registry.
	 * @param backend the store
	 * @param settings how long to wait and to hold
	 * @param listener told of what happens; its failures are kept from the locks
	 */
	public DefaultLockRegistry(LockBackend backend, EngineSettings settings, LockListener listener) {
		this.threads = new EngineThreads(backend);
		Timetable timetable = this.threads.timetable();
		this.settings = settings;
		this.entries = new LocalEntries(settings.leaseTime());
		LockListener safeListener = new CompositeLockListener(List.of(listener));
		LossNotice notice = new LossNotice(safeListener, this.threads.callbacks());
		this.queue = new StoreQueue(backend, timetable, this.threads.store(), this.entries);
		this.returns = new LeaseReturns(backend, timetable, this.threads.store());
		Renewals renewals = new Renewals(backend, timetable, this.threads.renewals());
		this.watchdog = new LeaseWatchdog(timetable, renewals, this.returns, notice, settings.leaseTime(),
				settings.renewalsPerLease());
		this.release = new LeaseRelease(backend, timetable, this.threads.store(), this.watchdog, this.returns,
				this.queue, notice, safeListener);
		StoreAccess access = new StoreAccess(backend, settings, timetable, this.returns, this.queue,
				new ReleaseBells(this.entries, this.queue), () -> this.refusing,
				new OutageLog(this.threads.store()::serverOf));
		this.admission = new Admission(this.entries, access, this.watchdog, this.release, safeListener,
				this.threads.tasks());
		this.simultaneousGrant = new SimultaneousGrant(this.entries, access, this.watchdog, this.admission);
		this.manyLocks = new ManyLocks(
				(requests, waitTime) -> this.simultaneousGrant.tryGrant(requests,
						(request) -> caller(request.withWaitTime(Duration.ZERO)), waitTime),
				(request) -> obtain(request.key(), caller(request)), this.threads.tasks());
	}

	@Override
	public Lease acquire(LockRequest request) {
		if (!request.others().isEmpty()) {
			return this.manyLocks.acquire(request, waitTime(request));
		}
		Caller caller = caller(request);
		Lease lease = obtain(request.key(), caller);
		if (lease == null) {
			throw new LockContendedException(request.key(), caller.waited());
		}
		return lease;
	}

	@Override
	public Lease acquire(LockRequest request, Function<LockKey, ?> owners) {
		if (!request.others().isEmpty()) {
			return new ManyLocks((requests, waitTime) -> this.simultaneousGrant.tryGrant(requests,
					(each) -> guest(each, owners), waitTime), (each) -> obtain(each.key(), caller(each, owners)),
					this.threads.tasks())
				.acquire(request, waitTime(request));
		}
		Caller caller = caller(request, owners);
		Lease lease = obtain(request.key(), caller);
		if (lease == null) {
			throw new LockContendedException(request.key(), caller.waited());
		}
		return lease;
	}

	@Override
	public <T extends @Nullable Object> CompletableFuture<T> follow(Future<T> future) {
		return this.futures.follow(future);
	}

	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		if (request.others().isEmpty()) {
			return Optional.ofNullable(obtain(request.key(), caller(request)));
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
			return new AsyncManyLocks(
					request, waitTime(request), (requests, waitTime) -> this.simultaneousGrant.tryGrant(requests,
							(each) -> guest(each, owners), waitTime),
					(each) -> acquireAsync(each, owners), this.threads.tasks())
				.begin();
		}
		Object owner = owners.apply(request.key());
		return new AsyncAcquisition(this.admission, this.threads, request, waitTime(request), owner).begin();
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
	@Nullable HeldLease obtain(LockKey key, Caller caller) {
		this.admission.come(caller);
		try {
			Hold hold = arriveAndWait(key, caller);
			if (hold != null) {
				return this.admission.letIn(hold, caller);
			}
			this.admission.turnAway(key, caller, null);
			return null;
		}
		catch (RuntimeException | Error ex) {
			this.admission.turnAway(key, caller, ex);
			throw ex;
		}
		finally {
			caller.finish();
		}
	}

	/**
	 * Return the hold of the current thread on a lock, if it has one.
	 */
	@Nullable Hold holdOfCurrentThread(LockKey key) {
		LocalEntry entry = this.entries.get(key);
		return (entry != null) ? entry.holdOf(Thread.currentThread()) : null;
	}

	private @Nullable Hold arriveAndWait(LockKey key, Caller caller) {
		boolean asked = false;
		while (true) {
			if (caller.isInterrupted()) {
				throw new LockInterruptedException(key);
			}
			LocalEntry entry = this.admission.entry(key);
			Arrival arrival = entry.arrive(caller, asked);
			asked = arrival instanceof Arrival.Asking;
			if (arrival instanceof Arrival.Joined joined) {
				return this.admission.join(joined.hold(), caller);
			}
			if (arrival instanceof Arrival.Asking asking) {
				this.admission.ask(asking.tenure());
			}
			if (arrival instanceof Arrival.Upgrading) {
				throw Admission.upgrading(key, caller);
			}
			if (arrival instanceof Arrival.Reentered reentered) {
				Hold hold = this.admission.reenter(reentered.hold());
				if (hold != null) {
					return hold;
				}
			}
			if (arrival instanceof Arrival.Contended) {
				throwOutage(entry);
				return null;
			}
			if (arrival instanceof Arrival.Taken) {
				return this.admission.visitStore(entry, StoreTurn.ASK, caller);
			}
			if (arrival instanceof Arrival.Queued queued) {
				if (caller.isInOrderOfArrival()) {
					this.admission.arriveInStore(key, caller);
				}
				else if (caller.mode().isShared()) {
					this.admission.letReadersIn(entry);
				}
				Turn turn = awaitTurn(entry, queued.waiter(), caller);
				if (turn instanceof StoreTurn storeTurn) {
					return this.admission.visitStore(entry, storeTurn, caller);
				}
				if (!(turn instanceof Hold hold)) {
					return null;
				}
				if (this.admission.receive(hold, caller)) {
					return hold;
				}
			}
		}
	}

	private @Nullable Turn awaitTurn(LocalEntry entry, LocalWaiter waiter, Caller caller) {
		Turn turn = this.refusing ? null : waiter.await();
		if (turn == null) {
			turn = entry.leave(waiter);
			this.admission.letReadersIn(entry);
		}
		if (turn == StoreTurn.REFUSED || (turn == null && this.refusing)) {
			throw Admission.shuttingDown(entry.key());
		}
		if (turn == null && caller.isInterrupted()) {
			throw new LockInterruptedException(entry.key());
		}
		if (turn == null) {
			throwOutage(entry);
		}
		return turn;
	}

	private void throwOutage(LocalEntry entry) {
		LockUnavailableException outage = this.admission.outage(entry);
		if (outage != null) {
			throw outage;
		}
	}

	private Caller caller(LockRequest request) {
		return Caller.interruptible(waitTime(request), request.mode(), request.leaseTime());
	}

	private Caller caller(LockRequest request, Function<LockKey, ?> owners) {
		return new ThreadCaller(waitTime(request), request.mode(), request.leaseTime(), owners.apply(request.key()));
	}

	/**
	 * Return a caller that asks without waiting and is no thread.
	 */
	private static Caller guest(LockRequest request, Function<LockKey, ?> owners) {
		return new AsyncCaller(Duration.ZERO, request.mode(), request.leaseTime(), owners.apply(request.key()),
				(waiter) -> {
				});
	}

	private Duration waitTime(LockRequest request) {
		Duration waitTime = request.waitTime();
		return (waitTime != null) ? waitTime : this.settings.waitTime();
	}

	/**
	 * Grant locks again after {@link #drain()}.
	 */
	public void open() {
		this.watchdog.setRenewing(true);
		this.refusing = false;
	}

	/**
	 * Refuse new locks, end all waits, let holders finish for at most the shutdown
	 * timeout, and then stop renewing. Nothing is released under a body that still runs:
	 * what it holds stays taken until its lease ends.
	 */
	public void drain() {
		this.refusing = true;
		this.entries.all().forEach(LocalEntry::refuseWaiters);
		if (!this.entries.awaitEmpty(this.settings.shutdownTimeout().toNanos())) {
			warnOfHeldLocks();
		}
		this.watchdog.setRenewing(false);
		this.release.awaitAnswers();
		this.queue.awaitLeft();
	}

	/**
	 * Entries that only have waiters are left out: their last request is not answered
	 * yet, but they hold nothing.
	 */
	private void warnOfHeldLocks() {
		List<LockKey> held = this.entries.all().stream().filter(LocalEntry::isHeld).map(LocalEntry::key).toList();
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
		if (!this.refusing) {
			drain();
		}
		this.threads.close();
	}

	/**
	 * Return how many locks are held or waited for.
	 */
	int activeLocks() {
		return this.entries.size();
	}

	/**
	 * Return how many actions are scheduled or under way in the background.
	 */
	int backgroundActions() {
		return this.threads.timetable().size() + this.returns.pending() + this.release.underWay();
	}

}
