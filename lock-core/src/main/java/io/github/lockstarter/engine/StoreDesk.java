// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.store.ReleaseListener;
import io.github.lockstarter.store.ReleaseOutcome;

/**
 * The desk between the locks of a registry and their store.
 */
final class StoreDesk implements Desk, ReleaseListener {

	private static final Log logger = LogFactory.getLog(StoreDesk.class);

	/**
	 * The store counts in milliseconds: at the end of a lease its key may still be there.
	 */
	private static final long EXPIRY_MARGIN = TimeUnit.MILLISECONDS.toNanos(2);

	private static final long ADMISSION_INTERVAL = TimeUnit.MILLISECONDS.toNanos(250);

	private static final long LONGEST_ANSWER_SECONDS = 3;

	private final LockStore store;

	private final EngineSettings settings;

	private final Timetable timetable;

	private final StoreLanes lanes;

	private final LocalLocks locks;

	private final Orphans orphans;

	private final LossNotice notice;

	private final OutageLog outages;

	private final QueuePlaces places;

	private final LeaseWatchdog watchdog;

	private final AtomicInteger underWay = new AtomicInteger();

	private volatile @Nullable CompletableFuture<Void> lastAnswer;

	StoreDesk(LockStore store, EngineSettings settings, EngineThreads threads, LocalLocks locks, LossNotice notice,
			OutageLog outages) {
		this.store = store;
		this.settings = settings;
		this.timetable = threads.timetable();
		this.lanes = threads.background();
		this.locks = locks;
		this.notice = notice;
		this.outages = outages;
		this.orphans = new Orphans(store, this.timetable, this.lanes);
		this.places = new QueuePlaces(store, this.timetable, this.lanes, locks, this::ring);
		Renewals renewals = new Renewals(store, this.timetable, threads.renewals());
		this.watchdog = new LeaseWatchdog(this.timetable, renewals, this.orphans, notice,
				(tenure) -> carryOut(tenure.lock().lose(tenure)), settings.leaseTime(), settings.renewalsPerLease());
	}

	QueuePlaces places() {
		return this.places;
	}

	LeaseWatchdog watchdog() {
		return this.watchdog;
	}

	void carryOut(Effect effect) {
		effect.carryOut(this);
	}

	/**
	 * Let a waiter come to its lock.
	 */
	void arrive(LockKey key, Waiter waiter) {
		while (waiter.lock() == null) {
			Effect effect = this.locks.getOrCreate(key).arrive(waiter);
			if (effect != null) {
				carryOut(effect);
			}
		}
	}

	/**
	 * Let a waiter leave its lock.
	 */
	void leave(Waiter waiter, boolean timedOut) {
		LocalLock lock = waiter.lock();
		if (lock != null) {
			carryOut(lock.leave(waiter, timedOut));
		}
	}

	@Override
	public void ask(LocalLock lock, Attempt attempt, Waiter head) {
		cancelAlarm(lock);
		boolean inLine = !head.isLast() && listen();
		if (inLine && head.discipline().standsInLineItself()) {
			head.place().take();
		}
		if (this.store.mayBlock()) {
			run(lock, head, () -> send(lock, attempt, head, inLine), true);
		}
		else {
			send(lock, attempt, head, inLine);
		}
	}

	private void send(LocalLock lock, Attempt attempt, Waiter head, boolean inLine) {
		attempt.send(this.timetable.now(), inLine);
		LeaseRequest request = new LeaseRequest(lock.key(), attempt.token(), attempt.leaseTime());
		CompletableFuture<LockAttempt> answer = this.store
			.acquire(request, inLine ? Place.of(attempt.mode()) : Place.NONE)
			.toCompletableFuture();
		if (answer.isDone()) {
			answered(lock, attempt, head, answer);
		}
		else {
			answer.whenComplete((attempted, ex) -> run(lock, head, () -> answered(lock, attempt, head, answer),
					this.store.mayBlock()));
		}
	}

	private void run(LocalLock lock, Waiter waiter, Runnable step, boolean blocking) {
		if (!waiter.execute(step, blocking)) {
			this.lanes.execute(lock.key(), step);
		}
	}

	private void answered(LocalLock lock, Attempt attempt, Waiter head, CompletableFuture<LockAttempt> answer) {
		try {
			answered(lock, attempt, answer.join(), null, false);
		}
		catch (CompletionException | CancellationException ex) {
			answered(lock, attempt, null, cause(ex), head.wasInterrupted());
		}
	}

	private void answered(LocalLock lock, Attempt attempt, @Nullable LockAttempt answer,
			@Nullable RuntimeException failure, boolean interrupted) {
		if (failure == null) {
			this.outages.answered(lock.key());
		}
		if (answer instanceof LockGrant grant) {
			carryOut(lock.granted(attempt, grant, tenure(lock, attempt, grant)));
		}
		else if (answer instanceof LockRefusal refusal) {
			carryOut(lock.refused(attempt, refusal));
		}
		else if (failure != null) {
			carryOut(lock.failed(attempt, failure, interrupted));
		}
	}

	/**
	 * Return the tenure that begins with a grant.
	 */
	Tenure tenure(LocalLock lock, Attempt attempt, LockGrant grant) {
		return new Tenure(lock, attempt.token(), grant, attempt.leaseTime(), attempt.sentAt(),
				this.settings.timeSlice().toNanos(), this.timetable);
	}

	private static @Nullable RuntimeException cause(@Nullable Throwable ex) {
		Throwable cause = (ex instanceof CompletionException && ex.getCause() != null) ? ex.getCause() : ex;
		return (cause == null || cause instanceof RuntimeException) ? (RuntimeException) cause
				: new IllegalStateException(cause);
	}

	/**
	 * Make sure that messages arrive, without waiting for that.
	 * @return false if they do not yet, so that asking again is the only way
	 */
	private boolean listen() {
		return this.store.waitingLine().listen(this);
	}

	@Override
	public void listen(LocalLock lock, long number, long nanos) {
		Timetable.Entry alarm = this.timetable.at(this.timetable.now() + nanos, () -> carryOut(lock.alarm(number)));
		lock.setAlarm(alarm);
		// The lock may have heard a message in the meantime
		if (!lock.awaitsAlarm(number)) {
			this.timetable.cancel(alarm);
		}
	}

	@Override
	public void cancelAlarm(LocalLock lock) {
		Timetable.Entry alarm = lock.alarm();
		if (alarm != null) {
			this.timetable.cancel(alarm);
		}
	}

	@Override
	public long pause(@Nullable Duration remaining, boolean inLine) {
		long poll = jittered(
				(inLine ? this.settings.pollInterval() : this.settings.pollIntervalWithoutMessages()).toNanos());
		return (remaining != null) ? Math.min(poll, remaining.toNanos() + EXPIRY_MARGIN) : poll;
	}

	@Override
	public long retryPause(Attempt attempt) {
		return jittered(attempt.nextRetryPause());
	}

	private static long jittered(long nanos) {
		return nanos - nanos / 5 + ThreadLocalRandom.current().nextLong(2 * nanos / 5 + 1);
	}

	@Override
	public void onRelease(LockKey key) {
		if (!ring(key)) {
			this.places.leave(key);
		}
	}

	@Override
	public void onDoubt() {
		this.locks.all().forEach((lock) -> carryOut(lock.rung()));
	}

	private boolean ring(LockKey key) {
		LocalLock lock = this.locks.get(key);
		if (lock != null) {
			carryOut(lock.rung());
		}
		return lock != null;
	}

	@Override
	public void enterLine(LockKey key, Waiter waiter) {
		Runnable step = () -> {
			// A waiter that cannot be told counts as dead
			if (listen()) {
				this.places.enter(key, waiter);
			}
		};
		if (!waiter.execute(step, true)) {
			this.lanes.execute(key, step);
		}
	}

	@Override
	public void withdraw(LockKey key) {
		this.places.leave(key);
	}

	@Override
	public void orphan(LockKey key, Attempt attempt) {
		Long until = attempt.uncertainUntil();
		if (until != null) {
			this.orphans.orphan(key, attempt.token(), until);
		}
	}

	@Override
	public void watch(Tenure tenure) {
		this.watchdog.watch(tenure);
	}

	/**
	 * End a hold when its fixed lease time is over.
	 */
	void limit(Hold hold) {
		if (hold.needsLimit()) {
			hold.setAlarm(this.timetable.at(hold.endsAt(), () -> {
				Effect effect = hold.lock().expire(hold);
				if (effect != Effect.NONE) {
					this.lanes.execute(hold.lock().key(), () -> carryOut(effect));
				}
			}));
		}
	}

	@Override
	public void expire(Hold hold) {
		if (hold.tenure().remainingNanos() <= 0) {
			this.watchdog.expire(hold.tenure());
		}
		else if (hold.remainingNanos() <= 0) {
			carryOut(hold.lock().expire(hold));
		}
	}

	@Override
	public void ended(Hold hold) {
		Timetable.Entry alarm = hold.alarm();
		if (alarm != null) {
			this.timetable.cancel(alarm);
		}
		if (hold.isLost()) {
			this.notice.lost(hold);
		}
	}

	@Override
	public void admitLater(LocalLock lock) {
		this.timetable.at(this.timetable.now() + ADMISSION_INTERVAL, () -> carryOut(lock.look()));
	}

	@Override
	public void probe(LocalLock lock, Tenure tenure) {
		if (this.store.mayBlock()) {
			this.lanes.execute(lock.key(), () -> sendQuestion(lock, tenure));
		}
		else {
			sendQuestion(lock, tenure);
		}
	}

	private void sendQuestion(LocalLock lock, Tenure tenure) {
		this.store.waitingLine().isAwaited(lock.key()).whenComplete((awaited, ex) -> probed(lock, tenure, awaited, ex));
	}

	private void probed(LocalLock lock, Tenure tenure, @Nullable Boolean awaited, @Nullable Throwable failure) {
		if (failure == null && awaited != null) {
			tenure.slice().answer(tenure.now(), awaited);
		}
		else {
			tenure.slice().noAnswer(tenure.now());
			logger.debug("Could not ask whether another instance waits for lock '" + lock.key() + "'", failure);
		}
		Effect effect = lock.probed(tenure);
		if (effect != Effect.NONE) {
			// It may have to release the lock, which may block
			this.lanes.execute(lock.key(), () -> carryOut(effect));
		}
	}

	@Override
	public void keep(LocalLock lock, Hold hold) {
		Tenure tenure = hold.tenure();
		if (!end(tenure)) {
			carryOut(lock.returned(false));
			return;
		}
		if (!this.orphans.keep(tenure, hold.keptUntil())
				&& hold.lose("when it should stay taken, the store no longer knew it as the owner")) {
			this.notice.lost(hold);
		}
		carryOut(lock.returned(false));
	}

	private boolean end(Tenure tenure) {
		if (tenure.isHeld() && tenure.release()) {
			this.watchdog.forget(tenure);
			return true;
		}
		this.watchdog.expire(tenure);
		return false;
	}

	@Override
	public void giveBack(LocalLock lock, Tenure tenure, @Nullable Hold hold, @Nullable LockMode next) {
		if (!end(tenure)) {
			carryOut(lock.returned(false));
			return;
		}
		boolean queue = next != null;
		CompletableFuture<ReleaseOutcome> answer = send(tenure, next).toCompletableFuture();
		if (answer.isDone()) {
			carryOut(lock.returned(settle(tenure, hold, answer) == ReleaseOutcome.RELEASED_TO_WAITER && queue));
			return;
		}
		this.underWay.incrementAndGet();
		carryOut(lock.returned(queue));
		answer.whenComplete((outcome, ex) -> {
			if (settle(tenure, hold, answer) != ReleaseOutcome.RELEASED_TO_WAITER && queue) {
				ring(lock.key());
			}
			answered();
		});
	}

	private CompletionStage<ReleaseOutcome> send(Tenure tenure, @Nullable LockMode next) {
		// Drivers refuse to wait for an answer on an interrupted thread
		boolean interrupted = Thread.interrupted();
		try {
			return this.store.release(tenure.key(), tenure.owner(), (next != null) ? Place.of(next) : Place.NONE);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Deal with the answer to a release.
	 * @return the outcome, or {@code null} if it is not known
	 */
	private @Nullable ReleaseOutcome settle(Tenure tenure, @Nullable Hold hold,
			CompletableFuture<ReleaseOutcome> answer) {
		ReleaseOutcome outcome = null;
		try {
			outcome = answer.join();
			if (outcome == ReleaseOutcome.NOT_OWNER && hold != null
					&& hold.lose("when it was given back, the store no longer knew it as the owner")) {
				this.notice.lost(hold);
			}
		}
		catch (CompletionException | CancellationException ex) {
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			this.orphans.retry(tenure.key(), tenure.owner(), tenure.deadline() + tenure.leaseTime().toNanos());
			this.notice.releaseFailed(tenure, cause);
		}
		Long uncertainUntil = tenure.uncertainUntil();
		if (uncertainUntil != null) {
			this.orphans.orphan(tenure.key(), tenure.owner(), uncertainUntil);
		}
		return outcome;
	}

	/**
	 * Return how many actions are under way in the background.
	 */
	int underWay() {
		return this.underWay.get() + this.orphans.pending();
	}

	/**
	 * Wait until no release is under way any more and no place is being given up, for as
	 * long as a store may take.
	 */
	void awaitAnswers() {
		CompletableFuture<Void> last = new CompletableFuture<>();
		this.lastAnswer = last;
		if (this.underWay.get() > 0) {
			last.completeOnTimeout(null, LONGEST_ANSWER_SECONDS, TimeUnit.SECONDS).join();
		}
		this.places.awaitLeft();
	}

	private void answered() {
		CompletableFuture<Void> last = this.lastAnswer;
		if (this.underWay.decrementAndGet() == 0 && last != null) {
			last.complete(null);
		}
	}

}
