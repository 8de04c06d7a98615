// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;

/**
 * Sends due renewals to the store in batches. Renewals that become due at the same time
 * are sent together, and wait for nothing else: neither for other requests nor for the
 * answers to earlier renewals, because each lease has at most one without an answer.
 */
final class Renewals {

	private static final int BATCH_SIZE = 100;

	private final LockStore store;

	private final Timetable timetable;

	private final Executor threads;

	/** Used only by actions of the timetable. */
	private List<Renewal> due = new ArrayList<>();

	Renewals(LockStore store, Timetable timetable, Executor threads) {
		this.store = store;
		this.timetable = timetable;
		this.threads = threads;
	}

	/**
	 * Add a renewal to the next batch. Called by actions of the timetable.
	 */
	void add(Renewal renewal) {
		if (this.due.isEmpty()) {
			// Runs after all actions that are already due
			this.timetable.at(this.timetable.now(), this::sendDue);
		}
		this.due.add(renewal);
	}

	private void sendDue() {
		List<Renewal> due = this.due;
		this.due = new ArrayList<>();
		RenewalRound.begin(due, this.timetable);
		for (int i = 0; i < due.size(); i += BATCH_SIZE) {
			List<Renewal> batch = due.subList(i, Math.min(i + BATCH_SIZE, due.size()));
			this.threads.execute(() -> send(batch));
		}
	}

	private void send(List<Renewal> due) {
		List<Renewal> batch = new ArrayList<>(due.size());
		for (Renewal renewal : due) {
			if (renewal.tenure().isOver()) {
				renewal.answered(false, Duration.ZERO, null);
			}
			else {
				batch.add(renewal);
			}
		}
		if (batch.isEmpty()) {
			return;
		}
		List<CompletionStage<Boolean>> answers = ask(batch.stream().map(Renewal::send).toList());
		batch.forEach(Renewal::sent);
		for (int i = 0; i < batch.size(); i++) {
			Renewal renewal = batch.get(i);
			answers.get(i)
				.whenComplete((owned, ex) -> renewal.answered(Boolean.TRUE.equals(owned),
						Answers.longestLease(this.store), failure(owned, ex)));
		}
	}

	private List<CompletionStage<Boolean>> ask(List<LeaseRequest> requests) {
		try {
			List<CompletionStage<Boolean>> answers = this.store.renew(requests);
			if (answers != null && answers.size() == requests.size() && answers.stream().allMatch(Objects::nonNull)) {
				return answers;
			}
			throw Answers.noAnswer();
		}
		catch (Throwable ex) {
			return Collections.nCopies(requests.size(), CompletableFuture.failedFuture(ex));
		}
	}

	private static @Nullable Throwable failure(@Nullable Boolean owned, @Nullable Throwable ex) {
		if (ex != null) {
			return RootCause.unwrap(ex);
		}
		return (owned != null) ? null : Answers.noAnswer();
	}

}
