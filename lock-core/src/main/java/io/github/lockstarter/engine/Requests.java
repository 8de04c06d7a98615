// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.WaitingLine;

/**
 * The requests for locks and their answers. The steps of a waiter run where it waits, so
 * that neither a driver nor another waiter does its work.
 */
final class Requests implements WaitingLine.Listener {

	private static final Log logger = LogFactory.getLog(Requests.class);

	private final LockStore store;

	private final WaitingLine line;

	private final EngineSettings settings;

	private final Timetable timetable;

	private final boolean mayBlock;

	private final Executor threads;

	private final LocalLocks locks;

	private final OutageLog outages;

	private final StoreGateway desk;

	private final Answers answers;

	private volatile @Nullable CompletableFuture<?> connection;

	/** The first request to a store that blocks connects as well. */
	private volatile boolean connected;

	/** Set while the current thread deals with an answer that has come at once. */
	private final ThreadLocal<Boolean> answering = new ThreadLocal<>();

	/**
	 * Create the requests of a registry.
	 * @param mayBlock whether requests to the store may block
	 * @param threads run the requests of waiters without a thread
	 * @param desk gives back what is granted too late
	 */
	Requests(LockStore store, EngineSettings settings, Timetable timetable, boolean mayBlock, Executor threads,
			LocalLocks locks, OutageLog outages, StoreGateway desk) {
		this.store = store;
		this.line = store.waitingLine();
		this.settings = settings;
		this.timetable = timetable;
		this.mayBlock = mayBlock;
		this.threads = threads;
		this.locks = locks;
		this.outages = outages;
		this.desk = desk;
		this.answers = new Answers(timetable);
		this.connected = !mayBlock;
	}

	/**
	 * Return the first connection, which is opened if it is not yet.
	 */
	CompletableFuture<?> connection() {
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
	 * Ask for a lock on behalf of a waiter, when the first connection is open.
	 */
	void ask(LockKey key, Attempt attempt, Waiter head) {
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
	void run(Waiter waiter, Runnable step, boolean blocking) {
		if (!waiter.execute(step, blocking)) {
			this.threads.execute(step);
		}
	}

	/**
	 * Run a request that may block where a waiter waits, if it has the time.
	 */
	void runBlocking(Waiter waiter, Runnable request) {
		if (waiter.hasTime(Answers.BLOCKING)) {
			run(waiter, request, true);
		}
		else {
			this.threads.execute(request);
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
			this.desk.orphan(key, attempt);
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
				attempt.sentAt(), this.settings.timeSlice().toNanos(), this.timetable);
	}

	/**
	 * Make sure that messages arrive, without blocking.
	 * @return {@code false} if they do not arrive yet, so that the lock must poll
	 */
	boolean listen() {
		try {
			return this.line.listen(this);
		}
		catch (Throwable ex) {
			logger.debug("Could not listen to the store yet", ex);
			return false;
		}
	}

	@Override
	public void onRelease(LockKey key) {
		LocalLock lock = this.locks.get(key);
		if (lock != null) {
			lock.announced();
		}
		else {
			this.desk.withdraw(key);
		}
	}

	@Override
	public void onDoubt() {
		this.locks.all().forEach(LocalLock::rung);
	}

	/**
	 * Make a lock ask again if it is listening.
	 */
	void ring(LockKey key) {
		this.locks.change(key, LocalLock::rung);
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
			Requests.this.locks.change(this.key, (lock) -> lock.overdue(this.attempt));
			at(this.attempt.askedAt() + Answers.LONGEST.toNanos(), this::giveUp);
		}

		private void giveUp() {
			if (end()) {
				Requests.this.locks.change(this.key, (lock) -> lock.failed(this.attempt, Answers.noAnswer(), null));
			}
		}

		private synchronized void at(long due, Runnable action) {
			if (!this.over) {
				this.limit = Requests.this.timetable.at(due, action);
			}
		}

		/**
		 * Note that the request is sent now.
		 * @return {@code false} if it was given up before
		 */
		synchronized boolean begin() {
			if (!this.over) {
				this.attempt.send(Requests.this.timetable.now(), this.inLine, !this.inLine && !this.head.isOutOfTime());
			}
			return !this.over;
		}

		/**
		 * Give up a place that the request may have taken after the waiter had left.
		 */
		void notGranted() {
			if (this.inLine && this.place != null && this.place.hasLeft()) {
				Requests.this.desk.withdraw(this.key, this.attempt.token());
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
				Requests.this.timetable.cancel(this.limit);
			}
			return true;
		}

	}

}
