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

	private final LeaseEvents events;

	private final UnderWay underWay;

	Releases(LockStore store, LocalLocks locks, LeaseWatchdog watchdog, Orphans orphans, LeaseEvents events,
			UnderWay underWay) {
		this.store = store;
		this.locks = locks;
		this.watchdog = watchdog;
		this.orphans = orphans;
		this.events = events;
		this.underWay = underWay;
	}

	/**
	 * Release a lock.
	 * @param hold the last hold of the ownership, or {@code null} if there was none
	 * @param next the mode of the next waiter in this JVM, or {@code null}
	 */
	void release(Ownership ownership, @Nullable Hold hold, @Nullable LockMode next) {
		CompletableFuture<ReleaseOutcome> unanswered = null;
		boolean told = false;
		try {
			if (end(ownership, Ownership::release)) {
				CompletableFuture<ReleaseOutcome> answer = send(ownership, next).toCompletableFuture();
				unanswered = answer.isDone() ? null : answer;
				told = unanswered != null || settle(ownership, hold, answer) == ReleaseOutcome.RELEASED_TO_WAITER;
			}
			else if (hold != null && ownership.lossReason() != null && hold.lose(ownership.lossReason())) {
				// Its end and the loss have come at the same time
				this.events.lost(hold);
			}
		}
		finally {
			if (unanswered != null) {
				this.underWay.begin();
			}
			// Even if there is no thread left to tell of a loss
			returned(ownership, told ? next : null);
		}
		if (unanswered != null) {
			settleLater(ownership, hold, unanswered, next != null);
		}
	}

	private void settleLater(Ownership ownership, @Nullable Hold hold, CompletableFuture<ReleaseOutcome> answer,
			boolean inLine) {
		answer.whenComplete((outcome, ex) -> {
			try {
				if (settle(ownership, hold, answer) != ReleaseOutcome.RELEASED_TO_WAITER && inLine) {
					this.locks.change(ownership.key(), LocalLock::rung);
				}
			}
			finally {
				this.underWay.end();
			}
		});
	}

	private CompletionStage<ReleaseOutcome> send(Ownership ownership, @Nullable LockMode next) {
		// Drivers refuse to wait for an answer on an interrupted thread
		boolean interrupted = Thread.interrupted();
		try {
			return Answers.guarded(() -> this.store.release(ownership.key(), ownership.owner(), next));
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
	private @Nullable ReleaseOutcome settle(Ownership ownership, @Nullable Hold hold,
			CompletableFuture<ReleaseOutcome> answer) {
		ReleaseOutcome outcome = null;
		Throwable failure = null;
		try {
			outcome = Answers.required(answer.join());
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
		if (outcome == ReleaseOutcome.NOT_OWNER && hold != null
				&& hold.lose("at its release, the store no longer held it for its owner")) {
			this.events.lost(hold);
		}
		this.events.settled(ownership.key(), failure);
		Long uncertainUntil = ownership.uncertainUntil();
		if (uncertainUntil != null) {
			this.orphans.orphan(ownership.key(), ownership.owner(), uncertainUntil);
		}
		if (ownership.answered()) {
			this.orphans.retry(ownership.key(), ownership.owner(), ownership.claimedUntil());
		}
		return outcome;
	}

	/**
	 * Keep a lock after its last hold.
	 */
	void keep(Hold hold) {
		Ownership ownership = hold.ownership();
		try {
			if (end(ownership, Ownership::keep) && !this.orphans.keep(ownership, hold.keptUntil())
					&& hold.lose("when it should be kept, the store no longer held it for its owner")) {
				this.events.lost(hold);
			}
		}
		finally {
			returned(ownership, null);
		}
	}

	private boolean end(Ownership ownership, Predicate<Ownership> ending) {
		if (ownership.isHeld() && ending.test(ownership)) {
			this.watchdog.forget(ownership);
			return true;
		}
		this.watchdog.expire(ownership);
		return false;
	}

	private void returned(Ownership ownership, @Nullable LockMode placed) {
		this.locks.change(ownership.key(), (lock) -> lock.returned(placed));
	}

}
