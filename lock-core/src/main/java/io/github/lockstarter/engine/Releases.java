// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.LockStore;

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
	 */
	void release(Ownership ownership, @Nullable Hold hold) {
		CompletableFuture<Boolean> unanswered = null;
		try {
			if (end(ownership, Ownership::release)) {
				CompletableFuture<Boolean> answer = send(ownership).toCompletableFuture();
				if (answer.isDone()) {
					settle(ownership, hold, answer);
				}
				else {
					unanswered = answer;
				}
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
			returned(ownership);
		}
		if (unanswered != null) {
			settleLater(ownership, hold, unanswered);
		}
	}

	private void settleLater(Ownership ownership, @Nullable Hold hold, CompletableFuture<Boolean> answer) {
		answer.whenComplete((released, ex) -> {
			try {
				settle(ownership, hold, answer);
			}
			finally {
				this.underWay.end();
			}
		});
	}

	private CompletionStage<Boolean> send(Ownership ownership) {
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

	/** Deal with the answer to a release. */
	private void settle(Ownership ownership, @Nullable Hold hold, CompletableFuture<Boolean> answer) {
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
		this.events.settled(ownership.key(), failure);
		Long uncertainUntil = ownership.uncertainUntil();
		if (uncertainUntil != null) {
			this.orphans.orphan(ownership.key(), ownership.owner(), uncertainUntil);
		}
		if (ownership.answered()) {
			this.orphans.retry(ownership.key(), ownership.owner(), ownership.claimedUntil());
		}
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
			returned(ownership);
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

	private void returned(Ownership ownership) {
		this.locks.change(ownership.key(), LocalLock::returned);
	}

}
