// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.LockStore;

/**
 * Sends due renewals to the store in batches. Renewals that become due at the same time
 * are sent together. Those of one server are independent of those of other servers and of
 * all other requests.
 */
final class Renewals {

	private final LockStore store;

	private final Timetable timetable;

	private final StoreLanes lanes;

	private final ConcurrentMap<Object, RenewalWindow> windows = new ConcurrentHashMap<>();

	/** Used only by actions of the timetable. */
	private List<Renewal> due = new ArrayList<>();

	Renewals(LockStore store, Timetable timetable, StoreLanes lanes) {
		this.store = store;
		this.timetable = timetable;
		this.lanes = lanes;
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
		due.stream()
			.collect(Collectors.groupingBy((renewal) -> this.lanes.serverOf(renewal.tenure().key())))
			.forEach((server, renewals) -> sendLater(server, this.windows.compute(server,
					(key, window) -> ((window != null) ? window : new RenewalWindow()).add(renewals))));
	}

	private void sendLater(Object server, RenewalWindow window) {
		if (window.beginSending()) {
			this.lanes.execute(server, () -> {
				for (List<Renewal> batch = window.next(); !batch.isEmpty(); batch = window.next()) {
					send(server, window, batch);
				}
			});
		}
	}

	private void send(Object server, RenewalWindow window, List<Renewal> batch) {
		AtomicInteger unanswered = new AtomicInteger(batch.size());
		List<CompletionStage<Boolean>> answers = ask(batch);
		batch.forEach(Renewal::sent);
		for (int i = 0; i < batch.size(); i++) {
			Renewal renewal = batch.get(i);
			answers.get(i).whenComplete((owned, ex) -> {
				renewal.answered(Boolean.TRUE.equals(owned), this.store.longestLease(), failure(owned, ex));
				if (unanswered.decrementAndGet() == 0) {
					window.answered(batch.size());
					sendLater(server, window);
					this.windows.computeIfPresent(server, (key, current) -> current.isIdle() ? null : current);
				}
			});
		}
	}

	private static @Nullable Throwable failure(@Nullable Boolean owned, @Nullable Throwable ex) {
		if (ex != null) {
			return RootCause.unwrap(ex);
		}
		return (owned != null) ? null : new IllegalStateException("The store has given no answer");
	}

	private List<CompletionStage<Boolean>> ask(List<Renewal> batch) {
		return this.store.renew(batch.stream().map(Renewal::send).toList());
	}

}
