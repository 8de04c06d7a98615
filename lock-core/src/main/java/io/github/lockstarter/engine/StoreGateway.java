// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * The way from the locks of a registry to its store and back: it carries out what their
 * transitions leave to do, and no other class asks the store for a waiter. It has no
 * state of a lock. Each request ends: by its answer, or without one when the store has
 * taken too long.
 */
final class StoreGateway implements LockActions, LeaseWatchdog.Listener, WaitingLine.Listener {

	private static final Log logger = LogFactory.getLog(StoreGateway.class);

	/** How long the end of a registry waits for the last answers. */
	private static final long LONGEST_END = TimeUnit.SECONDS.toNanos(3);

	private final LockStore store;

	private final WaitingLine line;

	private final StoreCapabilities capabilities;

	private final EngineThreads threads;

	private final Terms terms;

	private final Warnings warnings;

	private final Timetable timetable;

	private final Answers answers;

	private final boolean mayBlock;

	private final Executor background;

	private final LocalLocks locks;

	private final LeaseEvents events;

	private final Orphans orphans;

	private final LeaseWatchdog watchdog;

	private final OutageLog outages;

	/**
	 * Releases that are not answered, waiters that may have a place in the line, and
	 * places that are being taken or given up: the end of the registry waits for them.
	 */
	private final AtomicInteger underWay = new AtomicInteger();

	private final Emptiness nothingUnderWay;

	private volatile @Nullable CompletableFuture<?> connection;

	/** The first request to a store that blocks connects as well. */
	private volatile boolean connected;

	/** Set while the current thread deals with an answer that has come at once. */
	private final ThreadLocal<Boolean> answering = new ThreadLocal<>();

	StoreGateway(LockStore store, StoreCapabilities capabilities, EngineSettings settings, EngineThreads threads,
			Terms terms, LeaseEvents events, OutageLog outages) {
		this.store = store;
		this.line = store.waitingLine();
		this.capabilities = capabilities;
		this.threads = threads;
		this.terms = terms;
		this.warnings = new Warnings(settings, terms.time());
		this.timetable = threads.timetable();
		this.answers = new Answers(this.timetable);
		this.mayBlock = store.mayBlock();
		this.connected = !this.mayBlock;
		this.background = this.mayBlock ? threads.store() : Runnable::run;
		this.locks = new LocalLocks(terms, this.warnings, this);
		this.events = events;
		this.orphans = new Orphans(store, this.timetable, this.background, outages::answered);
		this.watchdog = new LeaseWatchdog(store, this.timetable, threads.renewals(), this.orphans, events, this,
				settings.leaseTime(), settings.renewalsPerLease());
		this.outages = outages;
		this.nothingUnderWay = new Emptiness(this.timetable.time(), () -> this.underWay.get() == 0);
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
	private CompletableFuture<?> connection() {
		CompletableFuture<?> connection = this.connection;
		return (connection != null) ? connection : connect();
	}

	private synchronized CompletableFuture<?> connect() {
		CompletableFuture<?> connection = this.connection;
		if (connection == null) {
			connection = Answers.guarded(this.store::connect);
			this.connection = connection;
		}
		return connection;
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
	 * Note that a waiter begins to wait. Its wait {@linkplain #endWait ends} in any case.
	 */
	void beginWait(Waiter waiter) {
		if (waiter.isFair()) {
			beginRequest();
		}
	}

	/**
	 * Give up the place of a waiter in the line of the store, if it has one of its own.
	 * @param granted whether the store has granted it the lock
	 */
	void endWait(LockKey key, Waiter waiter, boolean granted) {
		if (waiter.isFair()) {
			if (waiter.place().leave(granted)) {
				withdraw(key, waiter.token());
			}
			endRequest();
		}
	}

	/**
	 * Let a waiter leave that could not wait, and release the lock if it was granted.
	 */
	void abandon(LockKey key, Waiter waiter, Throwable reason) {
		leave(key, waiter, false);
		if (waiter.outcome() instanceof Hold hold) {
			exit(hold);
		}
		waiter.complete(AcquireFailure.misuse(new IllegalStateException("The lock could not be waited for", reason)));
	}

	/**
	 * Exit one level of a hold, and release the lock with the last one.
	 */
	void exit(Hold hold) {
		this.locks.change(hold.key(), (lock) -> lock.exit(hold));
	}

	/**
	 * Ask for a lock on behalf of a waiter, when the first connection is open.
	 */
	@Override
	public void ask(LockKey key, Attempt attempt, Waiter head) {
		CompletableFuture<?> connection = connection();
		if (connection.isDone()) {
			askNow(key, attempt, head);
		}
		else {
			this.answers.within(Answers.CONNECTION, connection)
				.whenComplete((result, ex) -> run(head, () -> askIfWaiting(key, attempt, head), true));
		}
	}

	private void askNow(LockKey key, Attempt attempt, Waiter head) {
		boolean inLine = !head.isOutOfTime() && listen();
		LinePlace place = head.isFair() ? head.place() : null;
		if (place != null) {
			place.ask(inLine);
		}
		attempt.ask(this.timetable.now(), this.connected ? Answers.OWN : Answers.LONGEST);
		Request request = new Request(key, attempt, head, inLine, place);
		if (this.mayBlock) {
			request.limit();
			runBlocking(head, () -> send(request));
		}
		else {
			send(request);
		}
	}

	/**
	 * Ask, unless the waiter has left while the connection was being opened.
	 */
	private void askIfWaiting(LockKey key, Attempt attempt, Waiter head) {
		if (head.outcome() == null) {
			askNow(key, attempt, head);
		}
		else {
			this.locks.change(key, LocalLock::notAsked);
		}
	}

	private void send(Request request) {
		if (!request.begin()) {
			return;
		}
		Attempt attempt = request.attempt;
		LeaseRequest lease = new LeaseRequest(request.key, attempt.token(), attempt.leaseTime());
		CompletableFuture<AcquireResult> answer = Answers.guarded(() -> this.store.acquire(lease, request.inLine));
		Runnable step = () -> answered(request, answer);
		if (!answer.isDone()) {
			if (!this.mayBlock) {
				request.limit();
			}
			answer.whenComplete((attempted, ex) -> run(request.head, step, this.mayBlock));
		}
		else if (this.answering.get() != null) {
			// Otherwise each of many waiters would be answered inside the answer to
			// another one
			run(request.head, step, true);
		}
		else {
			answeredAtOnce(step);
		}
	}

	private void answeredAtOnce(Runnable step) {
		this.answering.set(Boolean.TRUE);
		try {
			step.run();
		}
		finally {
			this.answering.remove();
		}
	}

	/**
	 * Run a step of a waiter where it waits.
	 */
	private void run(Waiter waiter, Runnable step, boolean blocking) {
		if (!waiter.execute(step, blocking)) {
			this.threads.requests().execute(step);
		}
	}

	/**
	 * Run a request that may block where a waiter waits, if it has the time.
	 */
	private void runBlocking(Waiter waiter, Runnable request) {
		if (waiter.hasTime(Answers.BLOCKING)) {
			run(waiter, request, true);
		}
		else {
			this.threads.requests().execute(request);
		}
	}

	private void answered(Request request, CompletableFuture<AcquireResult> answer) {
		LockKey key = request.key;
		Attempt attempt = request.attempt;
		AcquireResult attempted = answer.isCompletedExceptionally() ? null : answer.join();
		if (!(attempted instanceof AcquireResult.Grant)) {
			request.notGranted();
		}
		if (!request.end()) {
			if (attempted instanceof AcquireResult.Grant) {
				grantedLate(key, attempt);
			}
			return;
		}
		if (attempted == null) {
			// An interrupt ends a blocking request
			Waiter interrupted = (this.mayBlock && request.head.wasInterrupted()) ? request.head : null;
			RuntimeException failure = failure(answer);
			this.locks.change(key, (lock) -> lock.failed(attempt, failure, interrupted));
			return;
		}
		if (!this.connected) {
			this.connected = true;
		}
		this.outages.answered();
		if (attempted instanceof AcquireResult.Grant grant) {
			Ownership ownership = ownership(key, attempt, grant);
			this.locks.change(key, (lock) -> lock.granted(attempt, ownership));
		}
		else if (attempted instanceof AcquireResult.Refusal refusal) {
			this.locks.change(key, (lock) -> lock.refused(attempt, refusal));
		}
	}

	private void grantedLate(LockKey key, Attempt attempt) {
		LocalLock lock = this.locks.get(key);
		if (lock != null) {
			lock.grantedLate(attempt);
		}
		else {
			attempt.grantedLate(this.timetable.now());
			orphan(key, attempt);
		}
	}

	private static RuntimeException failure(CompletableFuture<?> answer) {
		try {
			answer.join();
			return Answers.noAnswer();
		}
		catch (CompletionException ex) {
			return RootCause.asRuntime(ex);
		}
		catch (CancellationException ex) {
			return ex;
		}
	}

	/**
	 * Return the ownership that begins with a grant.
	 */
	private Ownership ownership(LockKey key, Attempt attempt, AcquireResult.Grant grant) {
		return new Ownership(key, attempt.token(), grant, attempt.leaseTime(), Answers.longestLease(this.store),
				attempt.sentAt(), this.terms.slice(this.timetable.now() - attempt.sentAt()), this.timetable);
	}

	/**
	 * Make sure that messages arrive, without blocking.
	 * @return {@code false} if they do not arrive yet, so that the lock must poll
	 */
	private boolean listen() {
		try {
			return this.line.listen(this);
		}
		catch (Throwable ex) {
			logger.debug("Could not listen to the store yet", ex);
			return false;
		}
	}

	@Override
	public void setAlarm(Timetable.Entry alarm) {
		this.timetable.enter(alarm);
	}

	@Override
	public void cancelAlarm(Timetable.Entry alarm) {
		this.timetable.cancel(alarm);
	}

	/**
	 * Release a lock. If the store does not block, no thread waits for its answer, and a
	 * loss is reported when the answer comes.
	 */
	@Override
	public void release(Ownership ownership, @Nullable Hold hold) {
		try {
			if (endOwnership(ownership, Ownership::release)) {
				releasing(ownership, hold, send(ownership));
			}
			else if (hold != null && ownership.lossReason() != null && hold.lose(ownership.lossReason())) {
				// Its end and the loss have come at the same time
				this.events.lost(hold);
			}
		}
		finally {
			// Even if there is no thread left to tell of a loss
			this.locks.change(ownership.key(), LocalLock::returned);
		}
	}

	private CompletableFuture<Boolean> send(Ownership ownership) {
		// Drivers refuse to wait for an answer on an interrupted thread
		boolean interrupted = Thread.interrupted();
		try {
			return Answers.guarded(() -> this.store.release(ownership.key(), ownership.owner()));
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private void releasing(Ownership ownership, @Nullable Hold hold, CompletableFuture<Boolean> answer) {
		if (answer.isDone()) {
			released(ownership, hold, answer);
			return;
		}
		beginRequest();
		CompletableFuture<Boolean> limited = this.answers.within(Answers.LONGEST, answer);
		limited.whenComplete((released, ex) -> {
			try {
				released(ownership, hold, limited);
			}
			finally {
				endRequest();
			}
		});
	}

	private void released(Ownership ownership, @Nullable Hold hold, CompletableFuture<Boolean> answer) {
		boolean lost = false;
		Throwable failure = null;
		try {
			lost = !Answers.required(answer.join());
		}
		catch (RuntimeException ex) {
			failure = RootCause.unwrap(ex);
			this.orphans.retry(ownership.key(), ownership.owner(),
					ownership.deadline() + ownership.leaseTime().toNanos());
			if (hold != null) {
				hold.releaseFailed();
			}
			this.events.releaseFailed(ownership, failure);
		}
		if (lost && hold != null && hold.lose("at its release, the store no longer held it for its owner")) {
			this.events.lost(hold);
		}
		this.events.answered(ownership.key(), failure);
		Long uncertainUntil = ownership.uncertainUntil();
		if (uncertainUntil != null) {
			this.orphans.orphan(ownership.key(), ownership.owner(), uncertainUntil);
		}
		if (ownership.answered()) {
			this.orphans.retry(ownership.key(), ownership.owner(), ownership.claimedUntil());
		}
	}

	@Override
	public void keep(Hold hold) {
		Ownership ownership = hold.ownership();
		try {
			if (endOwnership(ownership, Ownership::keep) && !this.orphans.keep(ownership, hold.keptUntil())
					&& hold.lose("when it should be kept, the store no longer held it for its owner")) {
				this.events.lost(hold);
			}
		}
		finally {
			this.locks.change(ownership.key(), LocalLock::returned);
		}
	}

	private boolean endOwnership(Ownership ownership, Predicate<Ownership> ending) {
		if (ownership.isHeld() && ending.test(ownership)) {
			this.watchdog.forget(ownership);
			return true;
		}
		this.watchdog.expire(ownership);
		return false;
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
	public void orphan(LockKey key, Attempt attempt) {
		Long until = attempt.uncertainUntil();
		if (until != null) {
			this.orphans.orphan(key, attempt.token(), until);
		}
	}

	/**
	 * Put a waiter into the line of the store under its own token. If that fails, the
	 * request for the lock puts it there.
	 */
	@Override
	public void enterLine(LockKey key, Waiter waiter) {
		// A waiter that cannot be notified counts as dead
		Runnable step = () -> {
			LinePlace place = waiter.place();
			if (listen() && place.beginEntering()) {
				enter(key, place);
			}
		};
		if (this.mayBlock) {
			runBlocking(waiter, step);
		}
		else {
			step.run();
		}
	}

	private void enter(LockKey key, LinePlace place) {
		OwnerToken token = place.token();
		beginRequest();
		CompletableFuture<Void> answer = Answers.guarded(() -> this.line.enter(key, token));
		this.answers.within(Answers.LONGEST, answer).whenComplete((entered, ex) -> {
			if (ex != null) {
				logger.debug("Could not join the line of lock '" + key + "' yet", ex);
			}
			if (place.endEntering()) {
				withdraw(key, token);
			}
			endRequest();
		});
	}

	/**
	 * Give up a place in the line of the store. If it was notified that the lock is free,
	 * another one is notified instead. A place that is left behind, because the store has
	 * failed, is given up when it is its turn and nobody waits here, or when this JVM is
	 * gone.
	 */
	@Override
	public void withdraw(LockKey key, @Nullable OwnerToken owner) {
		beginRequest();
		this.answers
			.ask(this.background, () -> (owner != null) ? this.line.withdraw(key, owner) : this.line.withdraw(key))
			.whenComplete((left, ex) -> {
				endRequest();
				if (ex != null) {
					logger.debug("Could not leave the line of lock '" + key + "'", ex);
				}
				if (owner == null) {
					// A waiter that came in the meantime has lost the place as well
					this.locks.change(key, LocalLock::askAgain);
				}
			});
	}

	@Override
	public void onRelease(LockKey key) {
		LocalLock lock = this.locks.get(key);
		if (lock != null) {
			lock.messageArrived();
		}
		else {
			withdraw(key, null);
		}
	}

	@Override
	public void onDoubt() {
		this.locks.all().forEach(LocalLock::askAgain);
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
		if (hold != null && this.warnings.mayBeDue(hold)) {
			this.locks.change(ownership.key(), LocalLock::seen);
		}
	}

	@Override
	public void warn(Runnable warning) {
		this.threads.events().execute(warning);
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
		return this.underWay.get() + orphans();
	}

	/**
	 * Wait until no release and no withdrawal is under way, for as long as a store may
	 * take.
	 */
	void awaitAnswers() {
		this.nothingUnderWay.await(this.timetable.now() + LONGEST_END);
	}

	private void beginRequest() {
		this.underWay.incrementAndGet();
	}

	private void endRequest() {
		if (this.underWay.decrementAndGet() == 0) {
			this.nothingUnderWay.check();
		}
	}

	/**
	 * One request for a lock. It is answered once, or given up if the store takes too
	 * long: a later answer must not be taken for that to the next request.
	 */
	private final class Request {

		private final LockKey key;

		private final Attempt attempt;

		private final Waiter head;

		private final boolean inLine;

		private final @Nullable LinePlace place;

		/** Guarded by this. */
		private Timetable.@Nullable Entry limit;

		/** Guarded by this. */
		private boolean over;

		Request(LockKey key, Attempt attempt, Waiter head, boolean inLine, @Nullable LinePlace place) {
			this.key = key;
			this.attempt = attempt;
			this.head = head;
			this.inLine = inLine;
			this.place = place;
		}

		/**
		 * Begin to wait for the answer, which is overdue and then given up.
		 */
		void limit() {
			at(this.attempt.overdueAt(), this::overdue);
		}

		private void overdue() {
			StoreGateway.this.locks.change(this.key, (lock) -> lock.overdue(this.attempt));
			at(this.attempt.askedAt() + Answers.LONGEST.toNanos(), this::giveUp);
		}

		private void giveUp() {
			if (end()) {
				StoreGateway.this.locks.change(this.key, (lock) -> lock.failed(this.attempt, Answers.noAnswer(), null));
			}
		}

		private synchronized void at(long due, Runnable action) {
			if (!this.over) {
				this.limit = StoreGateway.this.timetable.at(due, action);
			}
		}

		/**
		 * Note that the request is sent now.
		 * @return {@code false} if it was given up before
		 */
		synchronized boolean begin() {
			if (!this.over) {
				this.attempt.send(StoreGateway.this.timetable.now(), this.inLine,
						!this.inLine && !this.head.isOutOfTime());
			}
			return !this.over;
		}

		/**
		 * Give up a place that the request may have taken after the waiter had left.
		 */
		void notGranted() {
			if (this.inLine && this.place != null && this.place.hasLeft()) {
				withdraw(this.key, this.attempt.token());
			}
		}

		/**
		 * End the request by its answer, or without one.
		 * @return {@code false} if it has ended before
		 */
		synchronized boolean end() {
			if (this.over) {
				return false;
			}
			this.over = true;
			if (this.limit != null) {
				StoreGateway.this.timetable.cancel(this.limit);
			}
			return true;
		}

	}

}
