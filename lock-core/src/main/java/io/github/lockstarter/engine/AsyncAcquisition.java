// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;

/**
 * One caller's way into a lock without a thread of its own: in the local queue it is an
 * entry there and one in the timetable, and each further step is a task of the engine.
 *
 * <p>
 * Its turn, its time-out and its cancellation may come at the same time: the guard of the
 * lock's entry decides which of them goes on.
 */
final class AsyncAcquisition {

	private final Admission admission;

	private final EngineThreads threads;

	private final Executor tasks;

	private final LockKey key;

	private final AsyncCaller caller;

	private final CompletableFuture<Lease> result;

	private final AtomicReference<@Nullable Place> place = new AtomicReference<>();

	/** Nothing further happens to a caller before it has settled in its place. */
	private volatile CompletableFuture<@Nullable Void> settled = new CompletableFuture<>();

	AsyncAcquisition(Admission admission, EngineThreads threads, LockRequest request, Duration waitTime, Object owner) {
		this.admission = admission;
		this.threads = threads;
		this.tasks = admission.tasks();
		this.result = new FutureLease(this.tasks);
		this.key = request.key();
		this.caller = new AsyncCaller(waitTime, request.mode(), request.leaseTime(), owner, this::takeTurn);
	}

	/**
	 * Begin on the current thread, without blocking it.
	 * @return the future lease; completing it otherwise ends the wait
	 */
	CompletableFuture<Lease> begin() {
		this.result.whenComplete((lease, ex) -> cancel());
		this.admission.come(this.caller);
		attempt(() -> arrive(false));
		return this.result;
	}

	private void arrive(boolean asked) {
		Arrival arrival = null;
		while (arrival == null) {
			this.settled = new CompletableFuture<>();
			LocalEntry entry = this.admission.entry(this.key);
			arrival = entry.arrive(this.caller, asked);
			if (arrival instanceof Arrival.Joined joined) {
				complete(this.admission.join(joined.hold(), this.caller));
			}
			else if (arrival instanceof Arrival.Asking asking) {
				this.tasks.execute(() -> attempt(() -> ask(asking.tenure())));
			}
			else if (arrival instanceof Arrival.Reentered reentered) {
				reenter(reentered.hold());
			}
			else if (arrival instanceof Arrival.Upgrading) {
				throw Admission.upgrading(this.key, this.caller);
			}
			else if (arrival instanceof Arrival.Contended) {
				fail(this.admission.outage(entry));
			}
			else if (arrival instanceof Arrival.Taken) {
				this.tasks.execute(() -> attempt(() -> visitStore(entry, StoreTurn.ASK)));
			}
			else if (arrival instanceof Arrival.Queued queued) {
				settle(new Place(entry, queued.waiter()));
			}
		}
	}

	private void reenter(Hold hold) {
		if (hold.isHeld()) {
			complete(hold);
			return;
		}
		this.tasks.execute(() -> attempt(() -> {
			Hold entered = this.admission.reenter(hold);
			if (entered != null) {
				complete(entered);
			}
			else {
				arrive(false);
			}
		}));
	}

	private void ask(Tenure tenure) {
		this.admission.ask(tenure);
		arrive(true);
	}

	private void settle(Place place) {
		this.place.set(place);
		if (!this.caller.isEndless()) {
			Timetable timetable = this.threads.timetable();
			long due = timetable.now() + this.caller.remainingNanos();
			place.timeOut = timetable.at(due, () -> giveUp(null));
		}
		CompletableFuture<@Nullable Void> settled = this.settled;
		if (this.caller.isInOrderOfArrival()) {
			this.tasks.execute(() -> {
				this.admission.arriveInStore(this.key, this.caller);
				settled.complete(null);
			});
		}
		else {
			settled.complete(null);
			if (this.caller.mode().isShared()) {
				this.admission.letReadersIn(place.entry);
			}
		}
		if (this.caller.isInterrupted()) {
			giveUp(new LockInterruptedException(this.key));
		}
		else if (this.admission.isRefusing()) {
			giveUp(Admission.shuttingDown(this.key));
		}
	}

	private void takeTurn(LocalWaiter waiter) {
		this.settled.thenRunAsync(() -> attempt(() -> resume(waiter)), this.tasks);
	}

	private void resume(LocalWaiter waiter) {
		leavePlace();
		Turn turn = waiter.turn();
		if (turn == StoreTurn.REFUSED) {
			throw Admission.shuttingDown(this.key);
		}
		if (turn instanceof StoreTurn storeTurn) {
			// One that came to the queue of the store after the release is told of none
			boolean late = this.caller.isInOrderOfArrival();
			visitStore(this.admission.entry(this.key), late ? StoreTurn.ASK : storeTurn);
		}
		else if (turn instanceof Hold hold) {
			if (this.admission.receive(hold, this.caller)) {
				complete(hold);
			}
			else {
				arrive(false);
			}
		}
	}

	private void visitStore(LocalEntry entry, StoreTurn turn) {
		this.caller.useCurrentThread();
		Hold hold;
		try {
			hold = this.admission.visitStore(entry, turn, this.caller);
		}
		finally {
			this.caller.finish();
		}
		if (hold != null) {
			complete(hold);
		}
		else {
			fail(null);
		}
	}

	/**
	 * Leave the local queue, unless the turn came before.
	 * @param reason why, or {@code null} if the caller is out of time
	 */
	private void giveUp(@Nullable RuntimeException reason) {
		Place place = leavePlace();
		if (place != null && place.entry.leave(place.waiter) == null) {
			LocalEntry entry = place.entry;
			this.admission.letReadersIn(entry);
			this.settled.thenRunAsync(() -> fail((reason != null) ? reason : this.admission.outage(entry)), this.tasks);
		}
	}

	private @Nullable Place leavePlace() {
		Place place = this.place.getAndSet(null);
		if (place != null && place.timeOut != null) {
			this.threads.timetable().cancel(place.timeOut);
		}
		return place;
	}

	private void cancel() {
		this.caller.cancel();
		giveUp(new LockInterruptedException(this.key));
	}

	private void complete(Hold hold) {
		Lease lease = this.admission.letIn(hold, this.caller);
		if (!this.result.complete(lease)) {
			giveBack(lease);
		}
	}

	private static void giveBack(Lease lease) {
		try {
			lease.close();
		}
		catch (LockLostException ex) {
			// Nothing was done under it
		}
	}

	private void fail(@Nullable Throwable reason) {
		this.admission.turnAway(this.key, this.caller, reason);
		this.result.completeExceptionally(
				(reason != null) ? reason : new LockContendedException(this.key, this.caller.waited()));
	}

	private void attempt(Runnable step) {
		try {
			step.run();
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	/**
	 * Where it waits, and what ends the wait.
	 */
	private static final class Place {

		private final LocalEntry entry;

		private final LocalWaiter waiter;

		private volatile Timetable.@Nullable Entry timeOut;

		Place(LocalEntry entry, LocalWaiter waiter) {
			this.entry = entry;
			this.waiter = waiter;
		}

	}

}
