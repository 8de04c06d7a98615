// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;

/**
 * The desk of a registry: leads waiters to their locks, and carries out the effects of
 * the locks' transitions. It has no state of a lock.
 */
final class StoreGateway implements LockActions, LeaseWatchdog.Listener {

	private static final Log logger = LogFactory.getLog(StoreGateway.class);

	private final StoreCapabilities capabilities;

	private final EngineThreads threads;

	private final Terms terms;

	private final Timetable timetable;

	private final Answers answers;

	private final boolean mayBlock;

	private final Executor background;

	private final LocalLocks locks;

	private final LeaseEvents events;

	private final Orphans orphans;

	private final LeaseWatchdog watchdog;

	private final Requests requests;

	private final Releases releases;

	private final QueuePlaces places;

	private final UnderWay underWay;

	private final OutageLog outages;

	private final Executor warnings;

	StoreGateway(LockStore store, StoreCapabilities capabilities, EngineSettings settings, EngineThreads threads,
			Terms terms, LeaseEvents events, OutageLog outages) {
		this.capabilities = capabilities;
		this.threads = threads;
		this.terms = terms;
		this.timetable = threads.timetable();
		this.answers = new Answers(this.timetable);
		this.mayBlock = store.mayBlock();
		this.background = this.mayBlock ? threads.store() : Runnable::run;
		this.locks = new LocalLocks(terms, this);
		this.events = events;
		this.orphans = new Orphans(store, this.timetable, this.background, outages::answered);
		this.watchdog = new LeaseWatchdog(store, this.timetable, threads.renewals(), this.orphans, events, this,
				settings.leaseTime(), settings.renewalsPerLease());
		this.requests = new Requests(store, settings, this.timetable, this.mayBlock, threads.requests(), this.locks,
				outages, this);
		this.outages = outages;
		this.warnings = threads.events();
		this.underWay = new UnderWay(this.timetable.time());
		this.releases = new Releases(store, this.locks, this.watchdog, this.orphans, events, this.underWay);
		this.places = new QueuePlaces(store.waitingLine(), this.timetable, this.background, this.underWay, this.locks,
				this.requests::ring);
	}

	LocalLocks locks() {
		return this.locks;
	}

	/**
	 * Return where the callers of acquisitions and releases report what they do.
	 */
	LeaseEvents events() {
		return this.events;
	}

	OutageLog outages() {
		return this.outages;
	}

	LeaseWatchdog watchdog() {
		return this.watchdog;
	}

	/**
	 * Open the first connection in the background. If that fails, the first request
	 * connects.
	 * @param refusing whether the end has begun, which closes the connection
	 */
	void connect(BooleanSupplier refusing) {
		connection().whenComplete((result, ex) -> {
			if (ex != null && !refusing.getAsBoolean()) {
				this.outages.failed(null, ex);
			}
		});
	}

	/**
	 * Return the first connection, which is opened if it is not yet.
	 */
	CompletableFuture<?> connection() {
		return this.requests.connection();
	}

	boolean mayBlock() {
		return this.mayBlock;
	}

	/**
	 * Let a waiter arrive at its lock.
	 */
	void arrive(LockKey key, Waiter waiter) {
		while (!waiter.hasArrived()) {
			this.locks.getOrCreate(key).arrive(waiter);
		}
	}

	/**
	 * Let a waiter leave its lock.
	 */
	void leave(LockKey key, Waiter waiter, boolean timedOut) {
		if (waiter.hasArrived()) {
			this.locks.change(key, (lock) -> lock.leave(waiter, timedOut));
		}
	}

	/**
	 * Note that a waiter comes. It {@linkplain #leaveLine leaves the line} in any case.
	 */
	void come(Waiter waiter) {
		this.places.come(waiter);
	}

	/**
	 * Give up the place of a waiter in the line of the store, if it has one of its own.
	 * @param granted whether the store has granted it the lock
	 */
	void leaveLine(LockKey key, Waiter waiter, boolean granted) {
		this.places.leave(key, waiter, granted);
	}

	/**
	 * Let a waiter leave that could not wait, and release the lock if it was granted.
	 */
	void abandon(LockKey key, Waiter waiter, Throwable reason) {
		leave(key, waiter, false);
		if (waiter.outcome() instanceof Hold hold) {
			exit(hold);
		}
		waiter.settle(AcquireFailure.misuse(new IllegalStateException("The lock could not be waited for", reason)));
	}

	/**
	 * Exit one level of a hold, and release the lock with the last one.
	 */
	void exit(Hold hold) {
		this.locks.change(hold.key(), (lock) -> lock.exit(hold));
	}

	@Override
	public void ask(LockKey key, Attempt attempt, Waiter head) {
		this.requests.ask(key, attempt, head);
	}

	@Override
	public void enter(Timetable.Entry alarm) {
		this.timetable.enter(alarm);
	}

	@Override
	public void cancel(Timetable.Entry alarm) {
		this.timetable.cancel(alarm);
	}

	@Override
	public void release(Ownership ownership, @Nullable Hold hold, @Nullable LockMode next) {
		this.releases.release(ownership, hold, next);
	}

	/**
	 * Check that the store can keep a lock after its owner has released it.
	 * @throws IllegalArgumentException if it cannot
	 */
	void requireKeeping(LockKey key) {
		this.capabilities.requireKeeping(key.toString());
	}

	/**
	 * Release locks for a caller that must not block.
	 */
	CompletableFuture<Void> releaseLater(Runnable release) {
		return this.threads.release(release);
	}

	/**
	 * Release locks for a caller that waits for this as long as for its own answer.
	 */
	CompletableFuture<Void> releaseInTime(Runnable release) {
		return this.answers.within(Answers.OWN, CompletableFuture.runAsync(release, this.background));
	}

	@Override
	public void keep(Hold hold) {
		this.releases.keep(hold);
	}

	@Override
	public void orphan(LockKey key, Attempt attempt) {
		Long until = attempt.uncertainUntil();
		if (until != null) {
			this.orphans.orphan(key, attempt.token(), until);
		}
	}

	@Override
	public void enterLine(LockKey key, Waiter waiter) {
		// A waiter that cannot be notified counts as dead
		Runnable step = () -> {
			if (this.requests.listen()) {
				this.places.enter(key, waiter);
			}
		};
		if (this.mayBlock) {
			this.requests.runBlocking(waiter, step);
		}
		else {
			step.run();
		}
	}

	@Override
	public void withdraw(LockKey key) {
		this.places.leave(key);
	}

	void withdraw(LockKey key, OwnerToken owner) {
		this.places.giveUp(key, owner);
	}

	@Override
	public void watch(Ownership ownership) {
		this.watchdog.watch(ownership);
	}

	@Override
	public void hasten(Ownership ownership) {
		this.watchdog.hasten(ownership);
	}

	/** Most holds are too short for a warning, and there may be many of them. */
	@Override
	public void seen(Ownership ownership) {
		Hold hold = ownership.hold();
		if (hold != null && this.terms.warnings().mayBeDue(hold)) {
			this.locks.change(ownership.key(), LocalLock::seen);
		}
	}

	@Override
	public void warn(Runnable warning) {
		this.warnings.execute(warning);
	}

	@Override
	public void lost(Ownership ownership) {
		this.locks.change(ownership.key(), (lock) -> lock.lose(ownership));
	}

	void limit(Hold hold) {
		if (hold.needsLimit()) {
			hold.setAlarm(this.timetable.at(hold.endsAt(), () -> expireNow(hold)));
		}
	}

	private void expireNow(Hold hold) {
		this.background.execute(() -> this.locks.change(hold.key(), (lock) -> lock.expire(hold)));
	}

	@Override
	public void expire(Hold hold) {
		// The thread that has noticed a loss may still be busy with the store
		if (hold.ownership().remainingNanos() <= 0 || hold.ownership().isLost()) {
			this.watchdog.expire(hold.ownership());
		}
		else if (hold.remainingNanos() <= 0) {
			this.locks.change(hold.key(), (lock) -> lock.expire(hold));
		}
	}

	@Override
	public void ended(Hold hold) {
		Timetable.Entry alarm = hold.alarm();
		if (alarm != null) {
			this.timetable.cancel(alarm);
		}
		if (hold.isLost()) {
			this.events.lost(hold);
		}
	}

	void refuseWaiters() {
		this.locks.all().forEach(LocalLock::refuse);
	}

	/**
	 * Return how many releases are tried again.
	 */
	int orphans() {
		return this.orphans.pending();
	}

	int underWay() {
		return this.underWay.count() + orphans();
	}

	/**
	 * Wait until no release and no withdrawal is under way, for as long as a store may
	 * take.
	 */
	void awaitAnswers() {
		this.underWay.awaitNone();
	}

}
