// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.ReleaseOutcome;

/**
 * The way out of a lock: hand it on to the next caller of this JVM, or stop renewing,
 * give it back to the store and pass the turn on.
 */
final class LeaseRelease {

	private static final Log logger = LogFactory.getLog(LeaseRelease.class);

	private static final long LONGEST_ANSWER_SECONDS = 3;

	private static final long ADMISSION_INTERVAL = TimeUnit.MILLISECONDS.toNanos(250);

	private final LockStore store;

	private final Timetable timetable;

	private final StoreLanes lanes;

	private final LeaseWatchdog watchdog;

	private final LeaseReturns returns;

	private final StoreQueue queue;

	private final LossNotice notice;

	private final LockListener listener;

	private final AtomicInteger underWay = new AtomicInteger();

	private volatile @Nullable CompletableFuture<Void> lastAnswer;

	LeaseRelease(LockStore store, Timetable timetable, StoreLanes lanes, LeaseWatchdog watchdog, LeaseReturns returns,
			StoreQueue queue, LossNotice notice, LockListener listener) {
		this.store = store;
		this.timetable = timetable;
		this.lanes = lanes;
		this.watchdog = watchdog;
		this.returns = returns;
		this.queue = queue;
		this.notice = notice;
		this.listener = listener;
	}

	/**
	 * Leave one level of a hold, and the lock with the last one.
	 * @throws io.github.lockstarter.LockLostException if the lock was lost before
	 */
	void exit(Hold hold) {
		Departure departure = leave(hold);
		if (hold.isLost()) {
			throw hold.loss();
		}
		if (departure == Departure.KEEP) {
			Duration rest = Duration.ofNanos(Math.max(0, hold.keptUntil() - this.timetable.now()));
			this.listener.onEvent(new LockEvent.Kept(hold.entry().key(), hold.fencingToken(), hold.duration(), rest));
		}
		else if (departure != Departure.DONE) {
			this.listener.onEvent(new LockEvent.Released(hold.entry().key(), hold.fencingToken(), hold.duration()));
		}
	}

	/**
	 * Leave one level of a hold, and the lock with the last one, without telling of it.
	 */
	Departure leave(Hold hold) {
		Departure departure = hold.entry().exit(hold);
		if (departure != Departure.DONE) {
			end(hold, departure);
		}
		return departure;
	}

	/**
	 * Begin a hold that shares the lock with those who hold it.
	 */
	void join(Hold hold) {
		goOn(hold.tenure());
		limit(hold);
	}

	/**
	 * Begin a hold that was handed on, or that shares the lock with those who hold it.
	 */
	void receive(Hold hold) {
		if (hold.tenure().isShared()) {
			join(hold);
		}
		else {
			limit(hold);
		}
	}

	/**
	 * Take the lock from a hold when its fixed lease time is over. The first hold of a
	 * tenure that is not shared needs no such limit: the tenure ends with it.
	 */
	void limit(Hold hold) {
		if (hold.isFixed()) {
			hold.setAlarm(this.timetable.at(hold.endsAt(), () -> expire(hold)));
		}
	}

	private void expire(Hold hold) {
		Departure departure = hold.entry().expire(hold);
		if (departure != Departure.DONE) {
			this.lanes.execute(hold.entry().key(), () -> end(hold, departure));
		}
	}

	/**
	 * End a hold whose time is over though no alarm has rung yet, on a thread that may
	 * block.
	 */
	void expireIfDue(Hold hold) {
		if (hold.tenure().remainingNanos() <= 0) {
			this.watchdog.expire(hold.tenure());
		}
		else if (hold.remainingNanos() <= 0) {
			Departure departure = hold.entry().expire(hold);
			if (departure != Departure.DONE) {
				end(hold, departure);
			}
		}
	}

	/**
	 * Return how many answers to releases are awaited.
	 */
	int underWay() {
		return this.underWay.get();
	}

	/**
	 * Wait until no answer is awaited any more, for as long as a store may take.
	 */
	void awaitAnswers() {
		CompletableFuture<Void> last = new CompletableFuture<>();
		this.lastAnswer = last;
		if (this.underWay.get() > 0) {
			last.completeOnTimeout(null, LONGEST_ANSWER_SECONDS, TimeUnit.SECONDS).join();
		}
	}

	private void answered() {
		CompletableFuture<Void> last = this.lastAnswer;
		if (this.underWay.decrementAndGet() == 0 && last != null) {
			last.complete(null);
		}
	}

	private void end(Hold hold, Departure departure) {
		Timetable.Entry alarm = hold.alarm();
		if (alarm != null) {
			this.timetable.cancel(alarm);
		}
		if (hold.isLost()) {
			this.notice.lost(hold);
		}
		depart(hold, departure);
	}

	private void depart(Hold hold, Departure departure) {
		Tenure tenure = hold.tenure();
		if (departure == Departure.LEFT) {
			this.watchdog.watch(tenure);
			return;
		}
		if (departure == Departure.ASK_FIRST) {
			tenure.slice().ask(tenure.now());
			ask(tenure, () -> goOn(hold));
		}
		else if (departure == Departure.HANDED_ON) {
			goOn(tenure);
		}
		else if (tenure.isHeld() && tenure.release()) {
			this.watchdog.forget(tenure);
			if (departure == Departure.KEEP) {
				keep(hold);
			}
			else {
				giveBack(hold);
			}
		}
		else {
			this.watchdog.expire(tenure);
			this.queue.passOn(hold.entry(), false, StoreTurn.ASK);
		}
	}

	private void goOn(Hold hold) {
		Departure departure = hold.entry().goOn(hold.tenure());
		if (departure == Departure.HANDED_ON) {
			goOn(hold.tenure());
		}
		else if (departure != Departure.DONE) {
			this.lanes.execute(hold.entry().key(), () -> depart(hold, departure));
		}
	}

	private void goOn(Tenure tenure) {
		this.watchdog.watch(tenure);
		if (tenure.slice().beginProbe(tenure.now())) {
			ask(tenure, () -> {
			});
		}
	}

	/**
	 * Let readers in that could not join those who hold the lock when they came, because
	 * a writer waited elsewhere that has given up since, or because it was not certain
	 * that the lease would last.
	 */
	void letReadersIn(LocalEntry entry) {
		Tenure unknown = entry.tenureToAskFor();
		if (unknown != null) {
			ask(unknown, entry::admit);
		}
		if (entry.beginAdmission()) {
			letReadersInLater(entry);
		}
	}

	private void letReadersInLater(LocalEntry entry) {
		this.timetable.at(this.timetable.now() + ADMISSION_INTERVAL, () -> this.lanes.execute(entry.key(), () -> {
			Tenure tenure = entry.tenureThatReadersWaitFor();
			if (tenure != null) {
				if (tenure.slice().isOver(tenure.now()) || tenure.mustAsk(tenure.now())) {
					probe(tenure);
				}
				tenure.setWanted();
				this.watchdog.watch(tenure);
				entry.admit();
				letReadersInLater(entry);
			}
		}));
	}

	/**
	 * Ask whether another JVM waits for a lock, on a thread that may block.
	 */
	void probe(Tenure tenure) {
		try {
			tenure.slice().ask(tenure.now());
			tenure.slice().answer(tenure.now(), this.store.isAwaited(tenure.key()));
		}
		catch (RuntimeException ex) {
			if (Thread.currentThread().isInterrupted()) {
				tenure.slice().withdraw();
			}
			else {
				noAnswer(tenure, ex);
			}
		}
	}

	/**
	 * Ask whether another JVM waits for a lock, without blocking, and then do something
	 * that does not block either.
	 */
	private void ask(Tenure tenure, Runnable then) {
		CompletionStage<Boolean> answer = send(tenure.key());
		if (answer == null) {
			this.lanes.execute(tenure.key(), () -> {
				probe(tenure);
				then.run();
			});
			return;
		}
		answer.whenComplete((awaited, ex) -> {
			if (ex == null) {
				tenure.slice().answer(tenure.now(), awaited);
			}
			else {
				noAnswer(tenure, ex);
			}
			then.run();
		});
	}

	private @Nullable CompletionStage<Boolean> send(LockKey key) {
		try {
			return this.store.isAwaitedAsync(key);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private static void noAnswer(Tenure tenure, Throwable ex) {
		tenure.slice().noAnswer(tenure.now());
		logger.debug("Could not ask whether somebody else waits for lock '" + tenure.key() + "'", ex);
	}

	private void keep(Hold hold) {
		if (!this.returns.keep(hold.tenure(), hold.keptUntil())
				&& hold.lose("when it should stay taken, the store no longer knew it as the owner")) {
			this.notice.lost(hold);
		}
		this.queue.passOn(hold.entry(), false, StoreTurn.ASK);
	}

	private void giveBack(Hold hold) {
		LocalEntry entry = hold.entry();
		LockMode next = entry.nextMode();
		boolean queue = next != null;
		CompletableFuture<ReleaseOutcome> answer = send(hold.tenure(), next).toCompletableFuture();
		if (answer.isDone()) {
			boolean queued = settle(hold, answer) == ReleaseOutcome.RELEASED_TO_WAITER && queue;
			this.queue.passOn(entry, queued, queued ? StoreTurn.AWAIT : StoreTurn.ASK);
			return;
		}
		this.underWay.incrementAndGet();
		this.queue.passOn(entry, queue, queue ? StoreTurn.AWAIT : StoreTurn.ASK);
		answer.whenComplete((outcome, ex) -> {
			if (settle(hold, answer) != ReleaseOutcome.RELEASED_TO_WAITER && queue) {
				this.queue.ring(entry.key());
			}
			answered();
		});
	}

	private CompletionStage<ReleaseOutcome> send(Tenure tenure, @Nullable LockMode next) {
		// Drivers refuse to wait for an answer on an interrupted thread
		boolean interrupted = Thread.interrupted();
		try {
			return this.store.releaseAsync(tenure.key(), tenure.owner(), next);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
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
	private @Nullable ReleaseOutcome settle(Hold hold, CompletableFuture<ReleaseOutcome> answer) {
		Tenure tenure = hold.tenure();
		ReleaseOutcome outcome = null;
		try {
			outcome = answer.join();
			if (outcome == ReleaseOutcome.NOT_OWNER
					&& hold.lose("when it was given back, the store no longer knew it as the owner")) {
				this.notice.lost(hold);
			}
		}
		catch (CompletionException | CancellationException ex) {
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			this.returns.retry(tenure.key(), tenure.owner(), tenure.deadline() + tenure.leaseTime().toNanos());
			this.notice.releaseFailed(tenure, cause);
		}
		Long uncertainUntil = tenure.uncertainUntil();
		if (uncertainUntil != null) {
			this.returns.orphan(tenure.key(), tenure.owner(), uncertainUntil);
		}
		return outcome;
	}

}
