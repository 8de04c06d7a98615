// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.ReleaseOutcome;

/**
 * Releases locks. If the store does not block, no thread waits for its answer, and a loss
 * is reported when the answer comes.
 */
final class Releases {

	private final LockStore store;

	private final LocalLocks locks;

	private final LeaseWatchdog watchdog;

	private final Orphans orphans;

	private final LossNotice notice;

	private final UnderWay underWay;

	Releases(LockStore store, LocalLocks locks, LeaseWatchdog watchdog, Orphans orphans, LossNotice notice,
			UnderWay underWay) {
		this.store = store;
		this.locks = locks;
		this.watchdog = watchdog;
		this.orphans = orphans;
		this.notice = notice;
		this.underWay = underWay;
	}

	/**
	 * Release a lock.
	 * @param hold the last hold of the tenure, or {@code null} if there was none
	 * @param next the mode of the next waiter in this JVM, or {@code null}
	 */
	void release(Tenure tenure, @Nullable Hold hold, @Nullable LockMode next) {
		if (!end(tenure, Tenure::release)) {
			returned(tenure, false);
			return;
		}
		boolean inLine = next != null;
		CompletableFuture<ReleaseOutcome> answer = send(tenure, next).toCompletableFuture();
		if (answer.isDone()) {
			returned(tenure, settle(tenure, hold, answer) == ReleaseOutcome.RELEASED_TO_WAITER && inLine);
			return;
		}
		this.underWay.begin();
		returned(tenure, inLine);
		answer.whenComplete((outcome, ex) -> {
			if (settle(tenure, hold, answer) != ReleaseOutcome.RELEASED_TO_WAITER && inLine) {
				this.locks.change(tenure.key(), LocalLock::rung);
			}
			this.underWay.end();
		});
	}

	private CompletionStage<ReleaseOutcome> send(Tenure tenure, @Nullable LockMode next) {
		// Drivers refuse to wait for an answer on an interrupted thread
		boolean interrupted = Thread.interrupted();
		try {
			return Answers.guarded(() -> this.store.release(tenure.key(), tenure.owner(), next));
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
		Throwable failure = null;
		try {
			outcome = Answers.required(answer.join());
		}
		catch (RuntimeException ex) {
			failure = RootCause.unwrap(ex);
			this.orphans.retry(tenure.key(), tenure.owner(), tenure.deadline() + tenure.leaseTime().toNanos());
			if (hold != null) {
				hold.releaseFailed();
			}
			this.notice.releaseFailed(tenure, failure);
		}
		if (outcome == ReleaseOutcome.NOT_OWNER && hold != null
				&& hold.lose("at its release, the store no longer held it for its owner")) {
			this.notice.lost(hold);
		}
		this.notice.settled(tenure.key(), failure);
		Long uncertainUntil = tenure.uncertainUntil();
		if (uncertainUntil != null) {
			this.orphans.orphan(tenure.key(), tenure.owner(), uncertainUntil);
		}
		if (tenure.answered()) {
			this.orphans.retry(tenure.key(), tenure.owner(), tenure.claimedUntil());
		}
		return outcome;
	}

	/**
	 * Keep a lock after its last hold.
	 */
	void keep(Hold hold) {
		Tenure tenure = hold.tenure();
		if (end(tenure, Tenure::keep) && !this.orphans.keep(tenure, hold.keptUntil())
				&& hold.lose("when it should be kept, the store no longer held it for its owner")) {
			this.notice.lost(hold);
		}
		returned(tenure, false);
	}

	private boolean end(Tenure tenure, Predicate<Tenure> ending) {
		if (tenure.isHeld() && ending.test(tenure)) {
			this.watchdog.forget(tenure);
			return true;
		}
		this.watchdog.expire(tenure);
		return false;
	}

	private void returned(Tenure tenure, boolean inLine) {
		this.locks.change(tenure.key(), (lock) -> lock.returned(inLine));
	}

}
