// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockGrant;

/**
 * Takes several locks with one request to the store, if nobody here or there is in the
 * way.
 */
final class SimultaneousGrant {

	private final LocalEntries entries;

	private final StoreAccess access;

	private final LeaseWatchdog watchdog;

	private final Admission admission;

	SimultaneousGrant(LocalEntries entries, StoreAccess access, LeaseWatchdog watchdog, Admission admission) {
		this.entries = entries;
		this.access = access;
		this.watchdog = watchdog;
		this.admission = admission;
	}

	/**
	 * Take all locks at once, on a thread that may block.
	 * @param requests each lock once, in the order that is the same everywhere
	 * @param callers who asks for one of them, without waiting
	 * @param waitTime how long all of that may take
	 * @return the leases, or {@code null} if that is not possible and nothing was taken
	 * @throws LockUnavailableException if the store could not be asked, and no time is
	 * left to ask it again
	 */
	@Nullable List<Lease> tryGrant(List<LockRequest> requests, Function<LockRequest, Caller> callers, Duration waitTime) {
		if (this.access.isRefusing() || Thread.currentThread().isInterrupted()
				|| !requests.stream().allMatch(SimultaneousGrant::isExclusive)) {
			return null;
		}
		List<Part> parts = new ArrayList<>(requests.size());
		boolean granted = false;
		try {
			granted = requests.stream().allMatch((request) -> arrive(request, callers.apply(request), parts))
					&& ask(parts, waitTime);
			return granted ? parts.stream().map(this::begin).toList() : null;
		}
		finally {
			if (!granted) {
				parts.forEach(this::undo);
			}
		}
	}

	private static boolean isExclusive(LockRequest request) {
		return request.mode() == LockMode.EXCLUSIVE || request.mode() == LockMode.WRITE;
	}

	/**
	 * Come to a lock here.
	 * @return whether it is free, or held by the same owner
	 */
	private boolean arrive(LockRequest request, Caller caller, List<Part> parts) {
		LocalEntry entry = this.entries.getOrCreate(request.key());
		Arrival arrival = entry.arrive(caller);
		while (arrival == null) {
			entry = this.entries.getOrCreate(request.key());
			arrival = entry.arrive(caller);
		}
		if (arrival instanceof Arrival.Reentered reentered) {
			parts.add(new Part(entry, caller, reentered.hold()));
			return reentered.hold().isHeld();
		}
		if (arrival instanceof Arrival.Taken) {
			parts.add(new Part(entry, caller, null));
			return true;
		}
		return false;
	}

	private boolean ask(List<Part> parts, Duration waitTime) {
		List<Part> wanted = parts.stream().filter((part) -> part.hold == null).toList();
		if (wanted.isEmpty()) {
			return true;
		}
		long sentAt = this.access.now();
		List<LeaseRequest> requests = wanted.stream().map(Part::request).toList();
		List<LockGrant> grants;
		try {
			grants = this.access.store().acquireAll(requests);
		}
		catch (RuntimeException ex) {
			orphan(requests);
			failed(wanted.get(0), this.access.now() - sentAt, waitTime, ex);
			return false;
		}
		if (grants == null || grants.isEmpty()) {
			return false;
		}
		for (int i = 0; i < grants.size(); i++) {
			Part part = wanted.get(i);
			part.tenure = new Tenure(part.entry, part.caller.token(), grants.get(i), requests.get(i).leaseTime(),
					sentAt, this.access.settings().timeSlice().toNanos(), this.access.timetable());
		}
		if (!wanted.stream().allMatch((part) -> part.tenure != null && part.tenure.isHeld())) {
			orphan(requests);
			return false;
		}
		return true;
	}

	private void failed(Part part, long nanos, Duration waitTime, RuntimeException ex) {
		if (waitTime.compareTo(Duration.ofNanos(nanos)) <= 0 && !part.caller.isInterrupted()) {
			LockUnavailableException unavailable = this.access.unavailable(part.entry.key(), ex);
			this.admission.turnAway(part.entry.key(), part.caller, unavailable);
			throw unavailable;
		}
	}

	private void orphan(List<LeaseRequest> requests) {
		for (LeaseRequest request : requests) {
			this.access.returns()
				.orphan(request.key(), request.owner(), this.access.now() + request.leaseTime().toNanos());
		}
	}

	private Lease begin(Part part) {
		Hold hold = part.hold;
		Tenure tenure = part.tenure;
		if (hold == null && tenure != null) {
			hold = part.entry.begin(tenure, part.caller);
			this.watchdog.watch(tenure);
			this.admission.acquired(hold, part.caller);
		}
		return this.admission.lease(Objects.requireNonNull(hold));
	}

	private void undo(Part part) {
		if (part.hold != null) {
			this.admission.leave(part.hold);
		}
		else {
			this.access.queue().passOn(part.entry, false, StoreTurn.ASK);
		}
	}

	/**
	 * One of the locks on the way to its lease.
	 */
	private static final class Part {

		private final LocalEntry entry;

		private final Caller caller;

		private final @Nullable Hold hold;

		private @Nullable Tenure tenure;

		Part(LocalEntry entry, Caller caller, @Nullable Hold hold) {
			this.entry = entry;
			this.caller = caller;
			this.hold = hold;
		}

		LeaseRequest request() {
			return new LeaseRequest(this.entry.key(), this.caller.token(), this.entry.leaseTimeFor(this.caller));
		}

	}

}
